"""Errors as the API tells them: one sentence in a JSON object, never a traceback."""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from treasure.errors import QueryError, UnavailableError, UserError

logger = logging.getLogger(__name__)


class Problem(HTTPException):
    """An error with a sentence for a person."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(status, detail)


def install(app: FastAPI) -> None:
    """Answer every error with a problem object."""

    # ruff: noqa: ARG001 - the framework hands every handler the request
    @app.exception_handler(HTTPException)
    def told(request: Request, error: HTTPException) -> JSONResponse:
        return _answer(error.status_code, str(error.detail), dict(error.headers or {}))

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        return _answer(422, f"{place or 'The request'}: {first['msg']}.")

    @app.exception_handler(UserError)
    def mistake(request: Request, error: UserError) -> JSONResponse:
        return _answer(400 if isinstance(error, QueryError) else 422, str(error))

    @app.exception_handler(UnavailableError)
    def unavailable(request: Request, error: UnavailableError) -> JSONResponse:
        return _answer(503, f"{error}.")

    @app.exception_handler(Exception)
    def unexpected(request: Request, error: Exception) -> JSONResponse:
        logger.error("%s failed", request.url.path, exc_info=error)
        return _answer(500, "Something went wrong here; the log of `treasure ui` says what.")


def _answer(status: int, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"status": status, "detail": detail}, status, headers)
