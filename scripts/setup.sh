# What building and testing need besides cargo: a JDK (17 or newer, with javac),
# a C linker and, for tests, Chromium. Sourced by ./demo and ./test. Whatever is
# missing is installed from the distribution, after saying so.

say() {
    printf '== %s\n' "$*" >&2
}

die() {
    printf '== %s\n' "$*" >&2
    exit 69
}

# The major version of a javac, or nothing.
javac_version() {
    "$1" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p'
}

have_jdk() {
    local home="${JAVA_HOME:-}" javac java version
    javac="${home:+$home/bin/}javac"
    java="${home:+$home/bin/}java"
    command -v "$javac" >/dev/null && command -v "$java" >/dev/null || return 1
    version="$(javac_version "$javac")"
    [ -n "$version" ] && [ "$version" -ge 17 ]
}

# Packages from the distribution, as root or through sudo.
install_packages() {
    local as_root=()
    command -v apt-get >/dev/null ||
        die "missing: $*; there is no apt-get here to install it with, so please do it by hand"
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || die "missing: $*; neither root nor sudo to install it with"
        as_root=(sudo)
    fi
    say "installing from the distribution: $*"
    "${as_root[@]}" apt-get update -q >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends "$@" >&2
}

have_browser() {
    local name
    for name in "${CHROMIUM:-chromium}" chromium-browser google-chrome; do
        command -v "$name" >/dev/null && "$name" --version >/dev/null 2>&1 && return
    done
    return 1
}

# For the tests of the HTML page. Where there is no browser to be had the other
# tests are still worth running; that it is missing is said.
setup_browser() {
    have_browser && return
    if ! (install_packages chromium) || ! have_browser; then
        say "no Chromium can be installed here: the HTML page is not tried in a browser"
        export PHOTOFINISH_NO_BROWSER=1
    fi
}

setup() {
    local missing=()
    command -v cargo >/dev/null || die "cargo is missing; see https://rustup.rs"
    command -v cc >/dev/null || missing+=(gcc libc6-dev)
    have_jdk || missing+=(openjdk-17-jdk-headless)
    if [ "${#missing[@]}" -gt 0 ]; then
        install_packages "${missing[@]}"
        if ! have_jdk; then
            # An old JDK that JAVA_HOME or PATH puts first.
            JAVA_HOME="$(dirname "$(dirname "$(readlink -f /usr/lib/jvm/java-17-openjdk-*/bin/javac)")")"
            export JAVA_HOME
            have_jdk || die "the JDK was installed but javac does not run; please look into it"
        fi
    fi
}
