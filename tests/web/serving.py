"""Servers of the tests of the web page: the page itself, and a virtual web that is crawled."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager

import uvicorn

from treasure.evaluation.web_server import WebServer


@contextmanager
def serving(app):
    """Serve an application on a free port; give its address."""
    config = uvicorn.Config(app, "127.0.0.1", 0, log_level="warning")
    socket = config.bind_socket()
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


@contextmanager
def proxy_of(web):
    """Serve a virtual web as a proxy; give its address and the URLs that were asked for."""
    asked = []
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = WebServer(web, lambda url, _: asked.append(url))
    port = asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
    yield f"http://127.0.0.1:{port}", asked
    asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()
