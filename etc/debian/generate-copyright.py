#!/usr/bin/env python3
"""Write Debian's copyright file, in the machine-readable format 1.0, to standard output.

Usage: generate-copyright.py CHECKOUTS SWIFT-LICENSE ICU-LICENSE OBJECTS...

CHECKOUTS is the directory with the sources of the Swift packages. SWIFT-LICENSE and ICU-LICENSE are the license files of
the Swift toolchain and of ICU, which is part of the Swift runtime. Each OBJECTS is the list of the object files that are
linked into one program, as the build writes it (PROGRAM.product/Objects.LinkFileList). Only Swift packages with an object
in one of the lists are described. Fails if no package has the module of an object.
"""
import re
import sys
from pathlib import Path

HEADER = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: merchantkeyd
Comment: The programs contain the Swift packages and the Swift runtime that this file lists after merchantkeyd itself. They
 are linked statically, in the versions that the build used.

Files: *
Copyright: The merchantkeyd authors
License: Apache-2.0
"""
SWIFT_RUNTIME = """
Files: swift-runtime/*
Copyright:
 Apple Inc. and the Swift project authors
 Unicode, Inc. and others
License: Apache-2.0-with-Swift-exception and ICU-license
Comment: The Swift standard library, Dispatch and Foundation. Foundation contains ICU.
"""
APACHE = """
License: Apache-2.0
 On Debian systems, the full text of the Apache License, version 2.0, is in the file /usr/share/common-licenses/Apache-2.0.
"""
APACHE_WITH_EXCEPTION = """
License: Apache-2.0-with-Swift-exception
 On Debian systems, the full text of the Apache License, version 2.0, is in the file /usr/share/common-licenses/Apache-2.0.
 .
{}
"""
COPYRIGHT = re.compile(r"Copyright\s+(?:\([cC]\)|©)?\s*((?:19|20)\d\d[-0-9, ]*)?\s*(?:by\s+)?(\S[^\n]{0,100})")
SOURCES = {".swift", ".c", ".h", ".cc", ".cpp", ".S", ".s"}


def fields(text):
    """Text as the continuation lines of a field."""
    return "\n".join(" " + (line.strip() or ".") for line in text.strip().splitlines())


def linked_modules(lists):
    """The modules of the object files: .../release/NIOCore.build/Channel.swift.o is of the module NIOCore."""
    modules = set()
    for path in lists:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            match = re.search(r"/(?:release|debug)/([^/]+)\.build/", line)
            if match:
                modules.add(match[1])
    return modules


def own_modules():
    names = {path.name.replace("-", "_") for path in Path("Sources").iterdir()} | {"Schema"}
    return names


def folder_of(module, package):
    """The folder with the module's sources; None if the package does not have the module."""
    for pattern in (f"Sources/{module}", module, f"Sources/*/{module}", f"Sources/{module.lstrip('_')}"):
        for folder in sorted(package.glob(pattern)):
            if folder.is_dir():
                return folder
    # If the folder of the target has another name, all sources of the package count.
    manifest = (package / "Package.swift").read_text(encoding="utf-8", errors="replace")
    return package / "Sources" if re.search(rf'arget\(\s*name:\s*"{module}"', manifest) else None


def holders(folders):
    """The copyright holders that the sources name, each with the first and last year."""
    years = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix not in SOURCES or not path.is_file():
                continue
            for span, holder in COPYRIGHT.findall(path.read_text(encoding="utf-8", errors="replace")[:4000]):
                holder = re.sub(r"(?i)\s*(all rights reserved)?[.,;*/\s]*$", "", holder)
                if not re.match(r"[A-Z]", holder) or re.match(r"(?i)(notice|holder|owner|years)", holder):
                    continue
                years.setdefault(holder, set()).update(re.findall(r"(?:19|20)\d\d", span))
    found = []
    for holder, numbers in sorted(years.items()):
        span = sorted({min(numbers), max(numbers)}) if numbers else []
        found.append(" ".join(filter(None, ["-".join(span), holder])))
    return found


def license_of(text, name):
    """The license's name, and its text if the name alone is not enough."""
    if "Apache License" in text[:200]:
        exception = re.search(r"(?is)#*\s*runtime library exception.*", text)
        return ("Apache-2.0-with-Swift-exception", exception[0]) if exception else ("Apache-2.0", None)
    return f"{name}-license", text


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    checkouts, swift_license, icu_license = map(Path, sys.argv[1:4])
    lists = sys.argv[4:]
    packages = sorted(path for path in checkouts.iterdir() if path.is_dir())
    folders = {}
    unknown = []
    for module in sorted(linked_modules(lists) - own_modules()):
        for package in packages:
            folder = folder_of(module, package)
            if folder:
                folders.setdefault(package, []).append(folder)
                break
        else:
            unknown.append(module)
    if unknown:
        sys.exit(f"error: no Swift package in {checkouts} has the modules {', '.join(unknown)}")

    stanzas = [HEADER.rstrip("\n")]
    texts = {"ICU-license": icu_license.read_text(encoding="utf-8")}
    exception = license_of(swift_license.read_text(encoding="utf-8"), "swift")[1]
    for package in sorted(folders, key=lambda path: path.name.lower()):
        files = sorted(path for path in package.iterdir() if re.match(r"(?i)(licen[cs]e|copying)", path.name))
        if not files:
            sys.exit(f"error: {package} has no license file")
        name, text = license_of(files[0].read_text(encoding="utf-8"), package.name)
        if text and name == "Apache-2.0-with-Swift-exception":
            exception = exception or text
        elif text:
            texts[name] = text
        # Parts of a package that have a license file of their own.
        inner = [path for folder in folders[package] for path in folder.rglob("*") if re.match(r"(?i)(licen[cs]e|copying)", path.name)]
        for path in sorted(inner):
            inner_name = f"{package.name}-{path.parent.name}-license"
            texts[inner_name] = path.read_text(encoding="utf-8")
            name += f" and {inner_name}"
        stanza = [f"Files: {package.name}/*", "Copyright:"]
        stanza += [" " + holder for holder in holders(folders[package])] or [" the authors of " + package.name]
        stanza.append(f"License: {name}")
        notices = [path for path in package.iterdir() if path.name.lower().startswith("notice")]
        if notices:
            stanza += ["Comment:", fields(notices[0].read_text(encoding="utf-8"))]
        stanzas.append("\n".join(stanza))
    stanzas.append(SWIFT_RUNTIME.strip("\n"))
    stanzas.append(APACHE.strip("\n"))
    stanzas.append(APACHE_WITH_EXCEPTION.format(fields(exception or "")).strip("\n"))
    stanzas += [f"License: {name}\n{fields(text)}" for name, text in sorted(texts.items())]
    print("\n\n".join(stanzas))


if __name__ == "__main__":
    main()
