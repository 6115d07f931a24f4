# What building and testing need besides cargo: a JDK (17 or newer, with javac),
# a C compiler and, for tests, Chromium and a NATS server. Sourced by ./demo and ./test. Whatever is
# missing is installed from the distribution (apt, dnf or apk), after saying so;
# elsewhere the message says exactly what to install.

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

# Whether the JDK in a directory, or on the PATH if it is empty, is new enough.
is_jdk() {
    local javac="${1:+$1/bin/}javac" java="${1:+$1/bin/}java" version
    command -v "$javac" >/dev/null && command -v "$java" >/dev/null || return 1
    version="$(javac_version "$javac")"
    [ -n "$version" ] && [ "$version" -ge 17 ]
}

# The JDK of JAVA_HOME or PATH; or else the newest that lies where distributions put them,
# which JAVA_HOME then names.
have_jdk() {
    local home best='' version newest=0
    is_jdk "${JAVA_HOME:-}" && return
    for home in /usr/lib/jvm/*/ /usr/java/*/ /opt/java/*/; do
        home="${home%/}"
        is_jdk "$home" || continue
        version="$(javac_version "$home/bin/javac")"
        [ "$version" -gt "$newest" ] || continue
        newest="$version" best="$home"
    done
    [ -n "$best" ] || return 1
    export JAVA_HOME="$best"
}

# Which JDKs the tests use (those that test-support/src/jdk.rs finds), and which of the supported ones they do without.
say_jdks() {
    local home feature version found='' missing=''
    local first="${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}"
    local named="${PHOTOFINISH_JDKS:-}"
    for home in "$first" ${named//:/ } /usr/lib/jvm/*; do
        [ -f "$home/release" ] && [ -f "$home/lib/modules" ] && [ -x "$home/bin/java" ] || continue
        version="$(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$home/release")"
        feature="${version%%[.+-]*}"
        case "$found" in *"$feature ("*) continue ;; esac
        found="$found${found:+, }$feature ($version)"
    done
    for feature in 17 21 25; do
        case "$found" in *"$feature ("*) ;; *) missing="$missing${missing:+, }$feature" ;; esac
    done
    say "the tests use JDK $found${missing:+; there is no $missing here (PHOTOFINISH_JDKS names more)}"
}

# Which of the tools for packages that this knows is here.
package_tool() {
    local tool
    for tool in apt-get dnf apk; do
        command -v "$tool" >/dev/null && echo "$tool" && return
    done
    echo none
}

# The first of several packages that the distribution has.
first_package() {
    local package
    for package; do
        case "$(package_tool)" in
        apt-get) apt-cache show "$package" >/dev/null 2>&1 ;;
        dnf) dnf -q list "$package" >/dev/null 2>&1 ;;
        apk) apk search -e "$package" 2>/dev/null | grep -q . ;;
        esac && echo "$package" && return
    done
    die "this distribution has none of: $*"
}

# What to install for a JDK, a C compiler, a browser or a NATS server, by the names of the distribution.
packages_for() {
    case "$(package_tool) $1" in
    'apt-get jdk') first_package openjdk-21-jdk-headless openjdk-17-jdk-headless default-jdk-headless ;;
    'apt-get cc') echo gcc libc6-dev ;;
    'apt-get browser') echo chromium ;;
    'apt-get nats') first_package nats-server ;;
    'dnf jdk') first_package java-21-openjdk-devel java-latest-openjdk-devel java-17-openjdk-devel ;;
    'dnf cc') echo gcc glibc-devel ;;
    'dnf browser') echo chromium ;;
    'dnf nats') first_package nats-server ;;
    'apk jdk') first_package openjdk21-jdk openjdk17-jdk openjdk21 openjdk17 ;;
    'apk cc') echo gcc musl-dev ;;
    'apk browser') echo chromium ;;
    'apk nats') first_package nats-server ;;
    'none jdk') echo "a JDK, version 17 or later, with javac (https://adoptium.net); JAVA_HOME names its directory" ;;
    'none cc') echo "a C compiler that is called cc (gcc or clang) with the headers of the C library" ;;
    'none browser') echo "Chromium" ;;
    'none nats') echo "nats-server (https://nats.io/download)" ;;
    esac
}

# Makes good what is missing: jdk, cc, browser, nats. As root or through sudo.
install_missing() {
    local as_root=() packages=() tool what
    tool="$(package_tool)"
    if [ "$tool" = none ]; then
        say "there is no apt-get, dnf or apk here to install with. Please install:"
        for what; do say "  $(packages_for "$what")"; done
        exit 69
    fi
    for what; do
        # shellcheck disable=SC2207 # names of packages have no spaces
        packages+=($([ "$tool" != apt-get ] || refresh; packages_for "$what"))
    done
    [ "${#packages[@]}" -gt 0 ] || exit 69
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || die "missing: ${packages[*]}; neither root nor sudo to install it with"
        as_root=(sudo)
    fi
    say "installing from the distribution: ${packages[*]}"
    case "$tool" in
    apt-get)
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends "${packages[@]}" >&2
        ;;
    dnf) "${as_root[@]}" dnf install -q -y "${packages[@]}" >&2 ;;
    apk) "${as_root[@]}" apk add --no-cache "${packages[@]}" >&2 ;;
    esac
}

# A fresh machine knows no packages before the first update.
refresh() {
    [ -z "$(find /var/lib/apt/lists -name '*_Packages*' -print -quit 2>/dev/null)" ] || return 0
    if [ "$(id -u)" = 0 ]; then apt-get update -q >&2; else sudo apt-get update -q >&2; fi
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
    if ! (install_missing browser) || ! have_browser; then
        say "no Chromium can be installed here: the HTML page is not tried in a browser"
        export PHOTOFINISH_NO_BROWSER=1
    fi
}

have_nats() {
    command -v nats-server >/dev/null || [ -x /usr/sbin/nats-server ]
}

# For the tests of campaigns on several machines; without, they are counted as ignored.
setup_nats() {
    have_nats && return
    if ! (install_missing nats) || ! have_nats; then
        say "no nats-server can be installed here: campaigns are not tried on a server"
    fi
}

# Cargo, in the version that Cargo.toml asks for.
check_rust() {
    local needed found
    needed="$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)"
    command -v cargo >/dev/null || die "cargo is missing: Rust $needed or later is needed, see https://rustup.rs"
    found="$(cargo --version | sed -n 's/^cargo \([0-9.]*\).*/\1/p')"
    [ "$(printf '%s\n' "$needed" "$found" | sort -V | head -1)" = "$needed" ] ||
        die "Rust $needed or later is needed, and this is $found: rustup update"
}

setup() {
    local missing=()
    check_rust
    command -v cc >/dev/null || missing+=(cc)
    have_jdk || missing+=(jdk)
    [ "${#missing[@]}" -eq 0 ] || install_missing "${missing[@]}"
    have_jdk || die "the JDK was installed but javac does not run; please look into it"
}
