"""Redis and PostgreSQL die, fill up, and come back: the crawl waits and loses nothing."""

import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from tests import servers
from tests.crawl.small_web import addresses, served
from tests.faults.crawls import asked, crawling, stored
from treasure.repository.store import Store

pytestmark = pytest.mark.slow
SITES, PAGES = 6, 12


def complete(web, repository):
    """Every page of *web* is stored, none twice."""
    found = Counter(stored(repository))
    assert set(found) == addresses(web), f"lost: {sorted(addresses(web) - set(found))[:5]}"
    assert max(found.values()) == 1


def test_redis_is_killed_and_comes_back(tmp_path, own_redis_server):
    runs = tmp_path / "runs"
    with served(SITES, PAGES) as web, crawling(
        runs, f"seeds={next(iter(web))}/0", f"frontier={own_redis_server.url}"
    ) as crawl:  # fmt: skip
        crawl.until(asked(web, 15), "at work")
        own_redis_server.kill()
        crawl.until(lambda: "The frontier does not answer" in crawl.log, "noticed")
        own_redis_server.start()
        assert crawl.ends() == 0, crawl.log[-3000:]
        complete(web, f"sqlite:///{runs / 'treasure.db'}")
        assert "Traceback" not in crawl.log


def test_redis_is_full_for_a_while(tmp_path, own_redis_server):
    import redis

    runs, client = tmp_path / "runs", redis.Redis.from_url(own_redis_server.url)
    with client, served(SITES, PAGES) as web, crawling(
        runs, f"seeds={next(iter(web))}/0", f"frontier={own_redis_server.url}"
    ) as crawl:  # fmt: skip
        crawl.until(asked(web, 15), "at work")
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", "1mb")
        crawl.until(lambda: "It is full: raise maxmemory" in crawl.log, "noticed")
        client.config_set("maxmemory", "0")
        assert crawl.ends() == 0, crawl.log[-3000:]
        complete(web, f"sqlite:///{runs / 'treasure.db'}")


class Postgres:
    """A PostgreSQL that can be killed and started again with what it had."""

    def __init__(self, folder: Path, binary: str) -> None:
        self.folder, self.binary, self.port = folder, binary, servers.free_port()
        self.user = servers._owner_of_postgres(folder)
        self.log = folder / "postgres.log"
        self.process: subprocess.Popen[bytes] | None = None
        initdb = str(Path(binary).with_name("initdb"))
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "-N"]
        subprocess.run(
            servers._as_user([initdb, "-D", str(folder / "data"), *options], self.user),
            check=True,
            capture_output=True,
        )

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://postgres:s3cret@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        data = str(self.folder / "data")
        line = [self.binary, "-D", data, "-p", str(self.port), "-k", "", "-h", "127.0.0.1"]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                servers._as_user(line, self.user), stdout=output, stderr=output
            )
        servers._wait(self.process, self._ready, self.log)

    def _ready(self) -> bool:
        import psycopg

        try:
            with psycopg.connect(host="127.0.0.1", port=self.port, user="postgres"):
                return True
        except psycopg.OperationalError:
            return False

    def kill(self) -> None:
        """End the server at once, and its children with it."""
        if self.process is not None and self.process.poll() is None:
            # Its children see that it is gone and end too; the next start waits for that.
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


@pytest.fixture
def own_postgres():
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    binary = str(homes[-1]) if homes else shutil.which("postgres")
    if not binary:
        servers.missing("PostgreSQL")
    folder = Path(tempfile.mkdtemp(prefix="treasure-postgres-"))
    server = Postgres(folder, binary)
    server.start()
    yield server
    server.kill()
    shutil.rmtree(folder, ignore_errors=True)


def test_postgresql_is_killed_and_comes_back(tmp_path, own_postgres):
    runs = tmp_path / "runs"
    with served(SITES, PAGES) as web, crawling(
        runs, f"seeds={next(iter(web))}/0", f"repository={own_postgres.url}"
    ) as crawl:  # fmt: skip
        crawl.until(asked(web, 15), "at work")
        own_postgres.kill()
        crawl.until(lambda: "trying again" in crawl.log, "noticed")
        _again(own_postgres)
        assert crawl.ends() == 0, crawl.log[-3000:]
        complete(web, own_postgres.url)
        assert "s3cret" not in crawl.log
        assert "s3cret" not in kept_settings(own_postgres.url)


def kept_settings(repository):
    """Return what the repository keeps of the job's settings, as text."""
    store = Store.open(repository)
    try:
        with store.reading() as connection:
            rows = connection.exec_driver_sql("SELECT CAST(settings AS TEXT) FROM jobs").all()
    finally:
        store.close()
    assert "TREASURE_REPOSITORY" in str(rows)
    return str(rows)


def _again(server):
    """Start *server*; its old children may need a moment to see that it died."""
    for _ in range(10):
        try:
            server.start()
        except RuntimeError:
            continue
        return
    server.start()
