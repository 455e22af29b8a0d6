"""The servers that other tests stand on."""

from __future__ import annotations

from tests.servers import RedisServer


def test_redis_keeps_its_data_when_killed(own_redis_server: RedisServer) -> None:
    import redis

    client = redis.Redis.from_url(own_redis_server.url)
    client.set("a", "1")
    own_redis_server.kill()
    own_redis_server.start()
    assert client.get("a") == b"1"
    client.close()


def test_postgres_databases_are_fresh(postgres_url: str) -> None:
    import sqlalchemy

    engine = sqlalchemy.create_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE a (b int)"))
        assert connection.execute(sqlalchemy.text("SELECT count(*) FROM a")).scalar() == 0
    engine.dispose()
