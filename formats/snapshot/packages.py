"""Files of installed data packages, read as data and accepted only with the sha256 that a card states."""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from functools import cache
from importlib import metadata
from pathlib import Path

from formats.errors import ModelError
from formats.models import PackageFile
from formats.types import SourceFile


@cache
def _distribution(name: str) -> metadata.Distribution:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise ModelError(
            f"the data package {name} is not installed: `pip install -r requirements.txt` brings it, "
            "or connect to the Hub",
            "package_missing",
        ) from None


@cache
def version(package: str) -> str:
    return _distribution(package).version


def path(package: str, file: str) -> Path:
    return Path(str(_distribution(package).locate_file(file)))


def read(source: PackageFile) -> bytes:
    """The file's bytes, or those of its member; ModelError (package_missing, package_changed) with what to do."""
    where = f"{source.file} of {source.package} {version(source.package)}"
    try:
        data = path(source.package, source.file).read_bytes()
        if source.member is not None:
            data = zipfile.ZipFile(io.BytesIO(data)).read(source.member)
    except (OSError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelError(f"{where} cannot be read ({error}): {_advice(source)}", "package_changed") from error
    found = hashlib.sha256(data).hexdigest()
    if found != source.sha256:
        raise ModelError(
            f"{where} is not the file this catalogue was made with: its sha256 is {found}, expected {source.sha256}. "
            f"Nothing of it is used; {_advice(source)}",
            "package_changed",
        )
    return data


def _advice(source: PackageFile) -> str:
    return f"install the version that requirements.txt pins (`pip install --force-reinstall {source.package}==...`)"


def source_file(role: str, source: PackageFile) -> SourceFile:
    """The file as a column shows it."""
    inside = f"{source.file}/{source.member}" if source.member is not None else source.file
    return SourceFile(role, inside, source.sha256, f"{source.package} {version(source.package)}")  # type: ignore[arg-type]
