#!/usr/bin/env python3
"""Prints the bill of materials of the packages as SPDX 2.3.

sbom.py VERSION COMMIT LIBTORCH_SH [LIBRARY_FOLDER]
LIBRARY_FOLDER: the archive's, whose libraries of the distribution dpkg names with their versions.
"""
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys


def package(name, version, licence="NOASSERTION", **more):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name,
            "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", **more}


def pins(text):
    """What libtorch.sh fetches for a cpu on this system, with the checksums that it insists on."""
    of_torch = re.search(r"^version=(\S+)", text, re.M)[1]
    wheels = [("torch", of_torch, "torch_sha", "BSD-3-Clause")]
    for name, version in re.findall(r"fetch (nvidia-[\w-]+)==(\S+) \S+ \$(?:runtime|cupti)_sha",
                                    text):
        wheels.append((name, version, name.split("-")[-1] + "_sha", "LicenseRef-NVIDIA-CUDA-EULA"))
    for name, version, pin, licence in wheels:
        sha = re.search(rf"^{pin}=([0-9a-f]{{64}})$", text, re.M)[1]
        yield package(name, version, licence,
                      checksums=[{"algorithm": "SHA256", "checksumValue": sha}],
                      externalRefs=[{"referenceCategory": "PACKAGE-MANAGER",
                                     "referenceType": "purl",
                                     "referenceLocator": f"pkg:pypi/{name}@{version}"}])


def distribution_packages(folder):
    """The distribution's packages that own the libraries of these names."""
    # libgomp is that of torch's wheel, by the name of the distribution's.
    names = sorted({path.name for path in folder.iterdir()} - {"libgomp.so.1"})
    said = subprocess.run(["dpkg-query", "-S", *(f"*/{name}" for name in names)], text=True,
                          capture_output=True, check=False).stdout
    owners = sorted({line.split(":")[0] for line in said.splitlines()
                     if re.search(r": /(usr/)?lib/[^/]+-linux-gnu/[^/]+$", line)})
    wanted = ["dpkg-query", "-W", "-f", "${Package} ${Version} ${source:Package}\n", *owners]
    listed = subprocess.run(wanted, text=True, capture_output=True, check=True).stdout
    for name, version, source in map(str.split, listed.splitlines()):
        locator = f"pkg:deb/debian/{name}@{version}"
        yield package(name, version, sourceInfo=f"of the source package {source}",
                      externalRefs=[{"referenceCategory": "PACKAGE-MANAGER",
                                     "referenceType": "purl", "referenceLocator": locator}])


def document(version, commit, libtorch_sh, folder):
    mpsd = package("mpsd", version, "Apache-2.0", sourceInfo=f"commit {commit}")
    parts = list(pins(libtorch_sh.read_text()))
    if folder:
        parts += distribution_packages(folder)
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]),
                                              datetime.timezone.utc)
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": mpsd["SPDXID"]}]
    relations += [{"spdxElementId": mpsd["SPDXID"], "relationshipType": "DEPENDS_ON",
                   "relatedSpdxElement": part["SPDXID"]} for part in parts]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"mpsd-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/mpsd-{version}-{commit}",
            "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                             "creators": ["Tool: mpsd-sbom"]},
            "hasExtractedLicensingInfos": [
                {"licenseId": "LicenseRef-NVIDIA-CUDA-EULA",
                 "extractedText": "CUDA Toolkit End User License Agreement, attachment A"}],
            "packages": [mpsd, *parts], "relationships": relations}


if __name__ == "__main__":
    library_folder = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    json.dump(document(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), library_folder),
              sys.stdout, indent=1)
    print()
