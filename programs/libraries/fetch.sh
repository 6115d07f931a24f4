#!/bin/sh
# Fetches the libraries that the drivers beside this script run, into DIR, and
# checks them. MAVEN_REPOSITORY is the address of a Maven repository.
#   MAVEN_REPOSITORY=https://... programs/libraries/fetch.sh DIR
set -eu
dir=${1:?where to}
repository=${MAVEN_REPOSITORY:?the address of a Maven repository}
mkdir -p "$dir"
while read -r sum path; do
    file=$dir/$(basename "$path")
    [ -f "$file" ] || curl --fail --silent --show-error --output "$file" "$repository/$path"
    echo "$sum  $file" | sha256sum --check --quiet
done <<'LIST'
80085a373c245c3e884d4f0b616298fa1aa338a366dd2a28a268ffc9213ec476 commons-pool/commons-pool/1.2/commons-pool-1.2.jar
cac3bcf9993532e31ad88eee494e90db4ef1b255ed06697f33662d239c91a9fe commons-pool/commons-pool/1.3/commons-pool-1.3.jar
87363a4c94eaabeefd8b930cb059f66b64c9f7d632862f23de3012da7660047b commons-collections/commons-collections/3.2.1/commons-collections-3.2.1.jar
c8ed615889a62d7957c4ea44b0d1d290b9f308c88edabac325526957259d7f14 log4j/log4j/1.2.13/log4j-1.2.13.jar
b85d6c2a6b4c29e90fa7c5d94b21fe796f9c6857870268b56904765126bae718 org/apache/lucene/lucene-core/2.4.1/lucene-core-2.4.1.jar
55a2e95144acf1abe44fea91c2948525c9b1f00fcaa1d10e753e92872ffbdd1e xalan/xalan/2.7.1/xalan-2.7.1.jar
a15078d243d4a20b6b4e8ae2f61ed4655e352054e121aada6f7441f1ed445a3c xalan/serializer/2.7.1/serializer-2.7.1.jar
LIST
