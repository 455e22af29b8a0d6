"""Real servers for tests: each on a free port, in a folder of its own, ended by its own id.

A missing server skips the test on a laptop and fails it in CI (``CI=true``).
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

START_SECONDS = 30.0


def free_port() -> int:
    """Return a port that nobody listens on."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def missing(what: str) -> None:
    """Skip the test for want of *what*, or fail where everything must be there."""
    if os.environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail(f"{what} is not installed, and CI must have it")
    pytest.skip(f"{what} is not installed")


@contextmanager
def running(
    command: list[str],
    ready: Callable[[], bool],
    *,
    log: Path,
    user: str | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the block ends; enter the block once *ready*."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            _as_user(command, user), stdout=output, stderr=output, stdin=subprocess.DEVNULL
        )
    try:
        _wait(process, ready, log)
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(process: subprocess.Popen[bytes], ready: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{process.args!r} did not start: {log.read_text()[-2000:]}")
        time.sleep(0.02)


def _as_user(command: list[str], user: str | None) -> list[str]:
    if user is None or os.getuid() != 0:
        return command
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]


def answers(port: int) -> bool:
    """Return whether somebody listens on *port*."""
    with closing(socket.socket()) as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class RedisServer:
    """A redis-server that can be killed, and started again with what it had."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Address of its first database."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it, or start it again."""
        import redis

        binary = shutil.which("redis-server")
        assert binary is not None
        log = self.folder / "redis.log"
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [
                    *(binary, "--port", str(self.port), "--bind", "127.0.0.1"),
                    *("--dir", str(self.folder), "--save", "", "--appendonly", "yes"),
                    *("--appendfsync", "everysec"),
                ],
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
            )

        def ready() -> bool:
            try:
                with closing(redis.Redis(port=self.port, socket_timeout=1)) as client:
                    return bool(client.ping())
            except redis.RedisError:
                return False

        _wait(self.process, ready, log)

    def kill(self) -> None:
        """End it as a power cut would."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One redis-server for all tests, append-only file on; name your jobs apart."""
    yield from _redis(tmp_path_factory.mktemp("redis"))


@pytest.fixture
def own_redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A redis-server for a test that kills or fills it."""
    folder = tmp_path / "redis"
    folder.mkdir()
    yield from _redis(folder)


def _redis(folder: Path) -> Iterator[RedisServer]:
    if not shutil.which("redis-server"):
        missing("redis-server")
    server = RedisServer(folder, free_port())
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """Address of the shared redis-server."""
    return redis_server.url


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL of our own; gives the SQLAlchemy URL of its database ``postgres``."""
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    binary = str(homes[-1]) if homes else shutil.which("postgres")
    if not binary:
        missing("PostgreSQL")
        return
    # Not in pytest's folder: every pytest that starts closes it to other users, under our feet.
    folder, port = Path(tempfile.mkdtemp(prefix="treasure-postgres-")), free_port()
    user = _owner_of_postgres(folder)
    data, log = folder / "data", folder / "postgres.log"
    initdb = str(Path(binary).with_name("initdb"))
    subprocess.run(
        _as_user(
            [initdb, "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N"], user
        ),
        check=True,
        capture_output=True,
    )
    command = [binary, "-D", str(data), "-p", str(port), "-k", "", "-h", "127.0.0.1"]
    command += ["-c", "fsync=off", "-c", "full_page_writes=off"]

    def ready() -> bool:
        import psycopg

        try:
            with psycopg.connect(host="127.0.0.1", port=port, user="postgres", connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False

    try:
        with running(command, ready, log=log, user=user):
            yield f"postgresql+psycopg://postgres@127.0.0.1:{port}/postgres"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """SQLAlchemy URL of a fresh, empty database."""
    import psycopg

    name = f"test_{time.time_ns()}"
    server = postgres_server.replace("+psycopg", "")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    yield postgres_server.rsplit("/", 1)[0] + f"/{name}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _owner_of_postgres(folder: Path) -> str | None:
    """Return the user who runs PostgreSQL, which refuses root, and give the folder to that user."""
    if os.getuid() != 0:
        return None
    names = {user.pw_name for user in pwd.getpwall()}
    user = "postgres" if "postgres" in names else "nobody"
    record = pwd.getpwnam(user)
    os.chown(folder, record.pw_uid, record.pw_gid)
    return user
