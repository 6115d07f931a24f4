# Photofinish with a JRE: docker build -t photofinish . && docker run --rm -v "$PWD:/work" photofinish \
#     hunt -- -cp target/classes com.shop.Main
#
# The first stage builds from this checkout. The second one can be any Java 17 or later on glibc:
# `--build-arg JAVA=17-jre`; with a JDK (`JAVA=21-jdk`) for what needs its compiler: the patches of `advise`, and `export --plain`.
ARG JAVA=21-jre
FROM rust:1.95-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jdk-headless \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN CARGO_PROFILE_RELEASE_STRIP=symbols cargo build --release --locked --package photofinish

FROM eclipse-temurin:${JAVA}
COPY --from=build /source/target/release/photofinish /usr/local/bin/photofinish
# Programs are run as the user that `docker run --user` names, in the directory that is mounted here.
WORKDIR /work
ENTRYPOINT ["photofinish"]
