"""The OpenAPI document of the service, kept by hand; a test holds it against the routes and their answers."""

from typing import Any

from textveil import __version__

from textveil_cli.serve.limits import Limits
from textveil_cli.serve.requests import MOST_OF_A_SCOPE

_TEXT = {"type": "string", "description": "One document."}
_SCOPE = {
    "type": "string",
    "minLength": 1,
    "maxLength": MOST_OF_A_SCOPE,
    "description": "What the ledger charges: a document, a person, a day. The service's default if left out.",
}
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string", "description": "Stable across versions."},
                "message": {"type": "string", "description": "One line, without anything of the request."},
            },
        }
    },
}
_SANITIZED = {
    "type": "object",
    "required": ["text", "statement"],
    "properties": {"text": {"type": "string"}, "statement": {"type": "object", "description": "What is promised."}},
}
_ENCODED = {
    "type": "object",
    "required": ["statement"],
    "properties": {
        "statement": {"type": "object", "description": "What is promised."},
        "vector": {"type": "array", "items": {"type": "number"}},
        "integers": {"type": "array", "items": {"type": "integer"}},
        "index": {"type": "integer"},
        "line": {"type": "string"},
    },
}
_STATUSES = {
    "400": "The body is not JSON in UTF-8, or a key or a header is there twice.",
    "401": "The token is missing or wrong.",
    "403": "A page of another site asks, or a budget does not cover the release.",
    "408": "The body did not arrive in time.",
    "413": "The body is too long, or has too many texts.",
    "415": "The body is not application/json.",
    "421": "The Host header names another host.",
    "422": "The body has another shape, or a text cannot be sanitized.",
    "500": "An error of the service.",
    "503": "Too many connections, or not finished in time.",
}
_OF_A_BODY = ("400", "408", "413", "415", "422", "500", "503")


def describe(limits: Limits, *, encodes: bool, scoped: bool = False) -> dict[str, Any]:
    """Returns the document.

    Args:
        limits: The limits of the service.
        encodes: Whether it has an encoder.
        scoped: Whether a request may name a scope.
    """
    paths = {
        "/health": {
            "get": _get("Tells that the service is there. Needs no token.", _object("status"), open_to_all=True)
        },
        "/info": {
            "get": _get("Tells versions, bundles, promises and limits.", _object("version", "sanitize", "limits"))
        },
        "/openapi.json": {"get": _get("Returns this document.", _object("openapi", "paths"))},
        "/sanitize": {
            "post": _post("Rewrites texts. Every request draws afresh and is a release.", _SANITIZED, limits, scoped)
        },
    }
    if encodes:
        summary = "Turns texts into noisy vectors or indices. Every request is a release."
        paths["/encode"] = {"post": _post(summary, _ENCODED, limits, scoped)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "textveil", "version": __version__},
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR},
        },
        "security": [{"token": []}, {}],
    }


def _get(summary: str, schema: dict[str, Any], *, open_to_all: bool = False) -> dict[str, Any]:
    refused = ("400",) if open_to_all else ("400", "401")
    security = {"security": [{}]} if open_to_all else {}
    return {"summary": summary, "responses": _responses(schema, (*refused, "403", "421")), **security}


def _post(summary: str, schema: dict[str, Any], limits: Limits, scoped: bool) -> dict[str, Any]:
    several = {"type": "array", "maxItems": limits.texts, "items": _TEXT}
    more = {"scope": _SCOPE} if scoped else {}
    body = {"oneOf": [_exactly("text", _TEXT, **more), _exactly("texts", several, **more)]}
    answer = {"oneOf": [schema, _exactly("results", {"type": "array", "items": schema})]}
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": _responses(answer, ("401", "403", "421", *_OF_A_BODY)),
    }


def _responses(schema: dict[str, Any], errors: tuple[str, ...]) -> dict[str, Any]:
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        "200": {"description": "Done.", "content": {"application/json": {"schema": schema}}},
        **{status: {"description": _STATUSES[status], "content": error} for status in sorted(errors)},
    }


def _object(*required: str) -> dict[str, Any]:
    return {"type": "object", "required": list(required)}


def _exactly(name: str, schema: dict[str, Any], **more: dict[str, Any]) -> dict[str, Any]:
    """An object with one property that it must have, more that it may have, and no others."""
    properties = {name: schema, **more}
    return {"type": "object", "required": [name], "properties": properties, "additionalProperties": False}
