"""Make a web of handbooks from Debian's documentation packages, to measure focus on.

    python tools/handbooks_web.py FOLDER

Downloads some 310 MB with ``apt-get download`` (Debian 12; no rights needed) into FOLDER, gives
each handbook a host, and has a portal link their front pages in four lists. Labels come from whole
handbooks or from chapters of them, and are as incomplete as that: the pages about matrices in the
handbook of Octave are not among the targets of "linear-algebra". Then:

    treasure evaluate FOLDER/web/web.warc.gz --topics FOLDER/web/topics.json --pages 200,500
"""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

DOC = "usr/share/doc/"
HANDBOOKS = {
    # host: package, where its HTML lies, front page, what the portal calls it
    "vision": ("opencv-doc", f"{DOC}opencv-doc/opencv4/html", "", "OpenCV modules"),
    "radio": ("gnuradio-doc", f"{DOC}gnuradio-doc/html", "", "GNU Radio Manual"),
    "cpp": ("cppreference-doc-en-html", "usr/share/cppreference/doc/html/en", "", "cppreference"),
    "boost": ("libboost1.81-doc", f"{DOC}libboost1.81-doc/doc/html", "", "The Boost C++ Libraries"),
    "handbook": ("debian-handbook", f"{DOC}debian-handbook/html/en-US", "", "Debian Handbook"),
    "kernel": ("linux-doc-6.1", f"{DOC}linux-doc-6.1/html", "", "The Linux Kernel documentation"),
    "octave": ("octave-doc", f"{DOC}octave/octave.html", "", "GNU Octave"),
    "scores": ("lilypond-doc-html", f"{DOC}lilypond/html/Documentation", "web/manuals.html",
               "LilyPond: engraving of music"),
    "astro": ("python-astropy-doc", f"{DOC}python-astropy-doc/html", "", "Astropy"),
    "eigen": ("libeigen3-doc", f"{DOC}libeigen3-dev/html", "", "Eigen: Main Page"),
    "erlang": ("erlang-doc", f"{DOC}erlang-doc", "doc/index.html", "Erlang/OTP"),
    "httpd": ("apache2-doc", f"{DOC}apache2-doc/manual/en", "", "Apache HTTP Server"),
    "plots": ("gnuplot-doc", f"{DOC}gnuplot/htmldocs", "", "figures"),
    "python": ("python3.11-doc", f"{DOC}python3.11/html", "", "Python 3.11"),
    "syslog": ("rsyslog-doc", f"{DOC}rsyslog-doc/html", "", "Welcome to Rsyslog"),
    "sympy": ("python-sympy-doc", f"{DOC}python-sympy-doc/html", "", "SymPy 1.11.1 documentation"),
    "git": ("git-doc", f"{DOC}git-doc", "", "git(1)"),
    "postfix": ("postfix-doc", f"{DOC}postfix/html", "", "Postfix Documentation"),
    "brains": ("python-nibabel-doc", f"{DOC}python-nibabel-doc/html", "", "Neuroimaging in Python"),
    "scrapy": ("python-scrapy-doc", f"{DOC}python-scrapy-doc/html", "", "Scrapy 2.8 documentation"),
    "fftw": ("libfftw3-doc", f"{DOC}libfftw3-dev/html", "", "FFTW 3.3.10"),
    "play": ("python-pygame-doc", f"{DOC}python-pygame-doc/html", "", "Pygame Front Page"),
    "clock": ("ntpsec-doc", f"{DOC}ntpsec-doc/html", "", "Secure Network Time Protocol"),
    "exim": ("exim4-doc-html", f"{DOC}exim4-doc-html/spec_html", "", "Exim Mail Transfer Agent"),
}  # fmt: skip
TOPICS = {
    # name: Dewey number, description, hosts and chapters that are its targets
    "computer-vision": ("006.37", "Computer vision and image processing: cameras, features,"
                        " filters, object detection, calibration and video analysis.", ["vision/"]),
    "software-radio": ("621.384", "Radio and digital signal processing: filters, modulators,"
                       " demodulators, receivers, transmitters, antennas and channels.",
                       ["radio/"]),
    "music-notation": ("780.148", "Writing music: engraving of scores, notes, staves, clefs, rests,"
                       " chords, lyrics and fonts for notation.", ["scores/"]),
    "astronomy": ("520", "Astronomy: coordinates, units, tables, FITS files, cosmology, time"
                  " systems, spectra and photometry of stars.", ["astro/"]),
    "file-systems": ("005.74", "File systems of operating systems: journals, inodes, mounts,"
                     " caching, ext4, xfs and overlays.", ["kernel/filesystems/"]),
    "computer-networks": ("004.6", "Computer networks: packets, protocols, drivers of network"
                          " devices, routing, sockets and switches.", ["kernel/networking/"]),
    "sound-drivers": ("006.5", "Sound on computers: audio drivers, sound cards, codecs, mixers,"
                      " MIDI and PCM streams.", ["kernel/sound/"]),
    "email": ("004.692", "Electronic mail: mail transfer agents, SMTP, delivery, aliases, queues,"
              " spam and mail routing.", ["postfix/", "exim/"]),
    "algebra": ("512", "Symbolic mathematics and algebra: polynomials, equations, matrices, groups,"
                " calculus and simplification.", ["sympy/"]),
    "neuroimaging": ("616.8", "Images of the brain: MRI and neuroimaging formats, voxels, affine"
                     " transforms and scanners.", ["brains/"]),
    "games": ("794.8", "Programming of computer games: sprites, surfaces, sound, joysticks, drawing"
              " and events.", ["play/"]),
    "clocks": ("529.7", "Time keeping: clocks, time servers, synchronisation, leap seconds,"
               " reference clocks and offsets.", ["clock/"]),
    "linear-algebra": ("512.5", "Linear algebra: dense and sparse matrices, vectors,"
                       " decompositions, solvers and geometry.", ["eigen/"]),
}  # fmt: skip
SEEDS = [f"http://{host}.test/" for host in ("portal", "python", "git")]
LISTS = 4
MAX_BYTES = 1_500_000
NOT_READ = re.compile(
    r"(^|/)(search|translations|genindex|_sources)[/.-]|-big-page|\.[a-z]{2}\.html$"
)


def main() -> int:
    """Download, lay out, build."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        print("apt-get and dpkg are not here. This needs a Debian system.", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1]).resolve()
    packages, hosts = folder / "packages", folder / "hosts"
    packages.mkdir(parents=True, exist_ok=True)
    for host, (package, place, _, _) in HANDBOOKS.items():
        if not list(packages.glob(f"{package}_*.deb")):
            subprocess.run(["apt-get", "download", "-qq", package], cwd=packages, check=False)
        found = next(packages.glob(f"{package}_*.deb"), None)
        if found is None:
            print(f"{package} cannot be had. Expected Debian 12 and a network.", file=sys.stderr)
            return 2
        subprocess.run(["dpkg", "-x", found, packages / host], check=True)
        pages = lay_out(packages / host / place, hosts / f"{host}.test")
        print(f"{host}.test: {pages} pages of {package}", flush=True)
    write_portal(hosts / "portal.test")
    labels = folder / "labels.json"
    labels.write_text(json.dumps(topics(hosts), indent=1), encoding="utf-8")
    build = ["web", "build", str(hosts), "--labels", str(labels), "--out", str(folder / "web")]
    return subprocess.run([sys.executable, "-m", "treasure", *build], check=False).returncode


def lay_out(source: Path, host: Path) -> int:
    """Write the HTML below *source* as the pages of *host*; return how many there are."""
    count = 0
    for file in sorted(source.rglob("*")):
        name = str(file.relative_to(source)).removesuffix(".gz")
        if not file.is_file() or not name.endswith((".html", ".htm")) or NOT_READ.search(name):
            continue
        page = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        if len(page) <= MAX_BYTES:
            (host / name).parent.mkdir(parents=True, exist_ok=True)
            (host / name).write_bytes(page)
            count += 1
    return count


def write_portal(host: Path) -> None:
    """Write a front page, and the lists it links to; what stands in which is drawn."""
    names = list(HANDBOOKS)
    random.Random(3).shuffle(names)
    host.mkdir(exist_ok=True)
    lists = [f'<li><a href="list{n}.html">List {n}</a></li>' for n in range(LISTS)]
    _write(host / "index.html", "Handbooks", lists)
    for n in range(LISTS):
        links = [
            f'<li><a href="http://{name}.test/{HANDBOOKS[name][2]}">{HANDBOOKS[name][3]}</a></li>'
            for name in names[n::LISTS]
        ]
        _write(host / f"list{n}.html", f"Handbooks, list {n}", links)


def _write(path: Path, title: str, items: list[str]) -> None:
    page = f"<title>{title}</title><h1>{title}</h1><ul>{''.join(items)}</ul>"
    path.write_text(f"<!doctype html>{page}", encoding="utf-8")


def topics(hosts: Path) -> list[dict[str, Any]]:
    """Return the topics with their targets, as topics.json has them."""
    found = []
    for name, (number, description, parts) in TOPICS.items():
        targets = sorted(
            f"http://{file.relative_to(hosts)}"
            for part in parts
            for file in (hosts / part.replace("/", ".test/", 1)).rglob("*.htm*")
        )
        found.append(
            {
                "name": name,
                "ddc": number,
                "description": description,
                "seeds": SEEDS,
                "on_topic_seeds": random.Random(name).sample(targets, 3),
                "targets": targets,
            }
        )
    return found


if __name__ == "__main__":
    sys.exit(main())
