"""Authorities and certificates for a test, made by the openssl program.

They have the fields that RFC 5280 asks for: Python 3.13 refuses others.
"""
import pathlib
import subprocess


def _openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)


class Authority:
    """An authority of its own in `folder`; `pem` is its certificate's path."""

    def __init__(self, folder, name):
        self._folder = pathlib.Path(folder) / name
        self._folder.mkdir()
        self.pem = self._folder / "ca.pem"
        self._key = self._folder / "ca.key"
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                 "-nodes", "-days", 2, "-subj", f"/CN={name}",
                 "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-keyout", self._key,
                 "-out", self.pem)

    def issue(self, name, alternatives="IP:127.0.0.1,DNS:localhost"):
        """(certificate, key): paths of a fresh pair with the common name `name`."""
        number = len(list(self._folder.glob("*.csr")))
        stem = self._folder / f"{name}-{number}"
        key, request, extensions = (stem.with_suffix(end) for end in (".key", ".csr", ".ext"))
        certificate = stem.with_suffix(".pem")
        extensions.write_text(f"subjectAltName={alternatives}\n"
                              "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n")
        _openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        _openssl("x509", "-req", "-in", request, "-CA", self.pem, "-CAkey", self._key,
                 "-CAcreateserial", "-days", 1, "-extfile", extensions, "-out", certificate)
        key.chmod(0o600)
        return certificate, key
