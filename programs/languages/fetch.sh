#!/bin/sh
# Fetches the compilers and libraries of the languages beside this script from a Maven repository into DIR, and
# checks them. MAVEN_REPOSITORY is its address.
#   MAVEN_REPOSITORY=https://... programs/languages/fetch.sh DIR
set -eu
dir=${1:?where to}
repository=${MAVEN_REPOSITORY:?the address of a Maven repository}
mkdir -p "$dir"
while read -r sum path; do
    file=$dir/$(basename "$path")
    [ -f "$file" ] || curl --fail --silent --show-error --output "$file" "$repository/$path"
    echo "$sum  $file" | sha256sum --check --quiet
done <<'LIST'
1c6c3f810bfe6a41abcbc34b3a2ef639f1e3f4aeed3a953a4b0974eea4f41889 org/jetbrains/kotlin/kotlin-compiler-embeddable/2.2.20/kotlin-compiler-embeddable-2.2.20.jar
8836ccffd3585fadda9901244b20d42901d2f3cd581058d8434e2ffabcf3a3e7 org/jetbrains/kotlin/kotlin-stdlib/2.2.20/kotlin-stdlib-2.2.20.jar
5c8bd5dd7ae1ea2eeb2778fdbeaa19a562184975f6cab8a0bb6779e4190731ae org/jetbrains/kotlin/kotlin-script-runtime/2.2.20/kotlin-script-runtime-2.2.20.jar
3277ac102ae17aad10a55abec75ff5696c8d109790396434b496e75087854203 org/jetbrains/kotlin/kotlin-reflect/1.6.10/kotlin-reflect-1.6.10.jar
7c5c8cd2f8beadd3283239bb9ca219a0cafa1af02682b407b181e1179718f2f7 org/jetbrains/kotlin/kotlin-daemon-embeddable/2.2.20/kotlin-daemon-embeddable-2.2.20.jar
7b0f19724082cbfcbc66e5abea2b9bc92cf08a1ea11e191933ed43801eb3cd05 org/jetbrains/annotations/23.0.0/annotations-23.0.0.jar
5ca175b38df331fd64155b35cd8cae1251fa9ee369709b36d42e0a288ccce3fd org/jetbrains/kotlinx/kotlinx-coroutines-core-jvm/1.10.2/kotlinx-coroutines-core-jvm-1.10.2.jar
f59982714591e321ba9c087af2c8666e2f5fb92b11a0cef72c2c5e9b342152d3 org/scala-lang/scala-compiler/2.13.16/scala-compiler-2.13.16.jar
1ebb2b6f9e4eb4022497c19b1e1e825019c08514f962aaac197145f88ed730f1 org/scala-lang/scala-library/2.13.16/scala-library-2.13.16.jar
fb49ccd9cac7464486ab993cda20a3c1569d8ef26f052e897577ad2a4970fb1d org/scala-lang/scala-reflect/2.13.16/scala-reflect-2.13.16.jar
964c69e3a23a892db2778ae6806aa1d42f81230032bd8e4982dc8620582ee6b7 io/github/java-diff-utils/java-diff-utils/4.15/java-diff-utils-4.15.jar
9d165aff3d714a455de2e711dc90df09fdb0a0969a1cd4d52aa72a44cb545db0 org/jline/jline/3.27.1/jline-3.27.1-jdk8.jar
cb2a1a3db1c2cd76ef4fa4a545d5a65f10b1b48b7f7672f0a109f5476f057166 org/clojure/clojure/1.12.3/clojure-1.12.3.jar
94cd99b6ea639641f37af4860a643b6ed399ee5a8be5d717cff0b663c8d75077 org/clojure/spec.alpha/0.5.238/spec.alpha-0.5.238.jar
eb73ac08cf49ba840c88ba67beef11336ca554333d9408808d78946e0feb9ddb org/clojure/core.specs.alpha/0.4.74/core.specs.alpha-0.4.74.jar
188a5f68d320f696bb09d94b47249233ca7b636fb13b760e45d0313cf5c40781 org/apache/groovy/groovy/5.0.1/groovy-5.0.1.jar
LIST
