#!/usr/bin/env python3
"""The crates that the released binary is made of, as CycloneDX 1.5 on standard output.

The list is that of `cargo metadata --locked`: what the package photofinish and the agent library
inside it depend on, without what only tests and build scripts need.
"""

import json
import subprocess
import sys


def main(version):
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    command += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    metadata = json.loads(subprocess.check_output(command))
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}

    def used(node):
        """What a package links to."""
        for dep in node["deps"]:
            if any(kind["kind"] is None for kind in dep["dep_kinds"]):
                yield dep["pkg"]

    roots = [i for i, p in packages.items() if p["name"] in ("photofinish", "photofinish-agent")]
    reached, waiting = set(), list(roots)
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting.extend(used(nodes[one]))

    def reference(identity):
        package = packages[identity]
        return f"pkg:cargo/{package['name']}@{package['version']}"

    def component(identity):
        package = packages[identity]
        about = {
            "type": "library",
            "bom-ref": reference(identity),
            "name": package["name"],
            "version": package["version"],
            "purl": reference(identity),
        }
        if package.get("license"):
            about["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        return about

    ordered = sorted(reached, key=reference)
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "name": "photofinish", "version": version}
        },
        "components": [component(one) for one in ordered],
        "dependencies": [
            {
                "ref": reference(one),
                "dependsOn": sorted({reference(dep) for dep in used(nodes[one])}),
            }
            for one in ordered
        ],
    }
    json.dump(bom, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main(sys.argv[1])
