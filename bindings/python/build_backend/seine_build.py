# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel and the source package of the binding (PEP 517) with the standard library alone: pip needs no network.

The binding is pure Python: it finds libseine.so.0 when it is imported. Its version is that of the headers.
"""
import base64
import gzip
import hashlib
import io
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = os.path.join(HERE, "../../include/seine/version.h")
SUMMARY = "A web crawler and fetcher that is polite, survives bad servers and says how every URL ended"
WHEEL = "Wheel-Version: 1.0\nGenerator: seine_build\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))  # the oldest date that a zip can hold


def version():
    """From the header of the tree, or from PKG-INFO of a source package."""
    if os.path.exists(HEADER):
        with open(HEADER, encoding="utf-8") as f:
            return re.search(r'SEINE_VERSION_TEXT\s+"(.*)"', f.read())[1]
    with open(os.path.join(HERE, "PKG-INFO"), encoding="utf-8") as f:
        return re.search(r"^Version: (.*)$", f.read(), re.M)[1]


def metadata():
    return (f"Metadata-Version: 2.1\nName: seine\nVersion: {version()}\nSummary: {SUMMARY}\nLicense: Apache-2.0\n"
            "Requires-Python: >=3.9\n")


def modules():
    folder = os.path.join(HERE, "seine")
    return [f"seine/{name}" for name in sorted(os.listdir(folder)) if name.endswith(".py")]


def read(path):
    with open(os.path.join(HERE, path), "rb") as f:
        return f.read()


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {name: read(name) for name in modules()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {"seine.pth": (HERE + "\n").encode()})


def write_wheel(folder, files):
    name, info = f"seine-{version()}-py3-none-any.whl", f"seine-{version()}.dist-info"
    files = {**files, f"{info}/METADATA": metadata().encode(), f"{info}/WHEEL": WHEEL.encode()}
    listed = [f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
              for path, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*listed, f"{info}/RECORD,,", ""]).encode()
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    base = f"seine-{version()}"
    files = {name: read(name) for name in [*modules(), "pyproject.toml", "build_backend/seine_build.py"]}
    files["PKG-INFO"] = metadata().encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{base}/{path}")
            entry.size, entry.mtime, entry.mode = len(data), EPOCH, 0o644
            tar.addfile(entry, io.BytesIO(data))
    with open(os.path.join(sdist_directory, base + ".tar.gz"), "wb") as f:
        f.write(gzip.compress(packed.getvalue(), mtime=EPOCH))
    return base + ".tar.gz"
