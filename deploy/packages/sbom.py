#!/usr/bin/env python3
"""Prints the bill of materials of the packages as SPDX 2.3.

sbom.py VERSION COMMIT LIBTORCH_SH MACHINE [LIBRARY_FOLDER]
MACHINE: the one that the packages are for, as uname says it.
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


def pins(text, machine):
    """What libtorch.sh fetches for a cpu of Linux, with the checksums that it insists on."""
    wheels = re.search(rf"^{machine}_wheels='(.*?)'$", text, re.M | re.S)[1]
    for name, version, sha in re.findall(r"^(\S+)==(\S+) \S+\n([0-9a-f]{64})$", wheels, re.M):
        if name == "nvidia-cuda-crt":  # headers alone
            continue
        licence = "BSD-3-Clause" if name == "torch" else "LicenseRef-NVIDIA-CUDA-EULA"
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
                     if re.search(r"/lib/[^/]+-linux-gnu/[^/]+$", line)})
    wanted = ["dpkg-query", "-W", "-f", "${Package} ${Version} ${source:Package}\n", *owners]
    listed = subprocess.run(wanted, text=True, capture_output=True, check=True).stdout
    for name, version, source in map(str.split, listed.splitlines()):
        locator = f"pkg:deb/debian/{name}@{version}"
        yield package(name, version, sourceInfo=f"of the source package {source}",
                      externalRefs=[{"referenceCategory": "PACKAGE-MANAGER",
                                     "referenceType": "purl", "referenceLocator": locator}])


def document(version, commit, libtorch_sh, machine, folder):
    mpsd = package("mpsd", version, "Apache-2.0", sourceInfo=f"commit {commit}")
    parts = list(pins(libtorch_sh.read_text(), machine))
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
    library_folder = pathlib.Path(sys.argv[5]) if len(sys.argv) > 5 else None
    json.dump(document(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4],
                       library_folder), sys.stdout, indent=1)
    print()
