"""Errors as the API tells them: one sentence in a JSON object, never a traceback."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from treasure.errors import QueryError, UnavailableError, UserError

logger = logging.getLogger(__name__)


class ProblemObject(BaseModel):
    """What went wrong, in a sentence."""

    status: int
    detail: str


def described(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problems of an operation, for its OpenAPI description."""
    schema = {"schema": ProblemObject.model_json_schema()}
    told = {"description": "A problem", "content": {"application/problem+json": schema}}
    return dict.fromkeys(statuses, told)


class Problem(HTTPException):
    """An error with a sentence for a person."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(status, detail)


def install(app: FastAPI) -> None:
    """Answer every error with a problem object."""

    # ruff: noqa: ARG001 - the framework hands every handler the request
    @app.exception_handler(HTTPException)
    def told(request: Request, error: HTTPException) -> JSONResponse:
        return answer(error.status_code, str(error.detail), dict(error.headers or {}))

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        return answer(422, f"{place or 'The request'}: {first['msg']}.")

    @app.exception_handler(UserError)
    def mistake(request: Request, error: UserError) -> JSONResponse:
        return answer(400 if isinstance(error, QueryError) else 422, str(error))

    @app.exception_handler(UnavailableError)
    def unavailable(request: Request, error: UnavailableError) -> JSONResponse:
        return answer(503, f"{error}.")

    @app.exception_handler(Exception)
    def unexpected(request: Request, error: Exception) -> JSONResponse:
        logger.error("%s failed", request.url.path, exc_info=error)
        return answer(500, "Something went wrong here; the log of `treasure ui` says what.")


def answer(status: int, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return a problem object (RFC 9457)."""
    content = ProblemObject(status=status, detail=detail).model_dump()
    return JSONResponse(content, status, headers, "application/problem+json")
