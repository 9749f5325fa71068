"""What a client and the log are told when a request fails."""

from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, CloseConnection, Response
from lakestream.protocol.kafka.connection import Request
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.service import Service
from lakestream.protocol.kafka.wire.errors import MalformedRequest


def response_to_failure(service: Service, request: Request, problem: BaseException, *, client: str) -> Response:
    """The answer in the API's own shape; None where there is none, and the connection is to be closed."""
    api, log = service.apis[request.route.api_key], service.log
    if isinstance(problem, MalformedRequest | CloseConnection):
        log.info("closing a connection", client=client, kind=api.name, reason=str(problem))
        return None
    code, message = kafka_error(problem)
    service.metrics.request_failed(api.name, code)
    if isinstance(problem, LakestreamError):
        log.info("a request was refused", client=client, kind=api.name, code=code, reason=message)
    else:
        log.error("a request failed", client=client, kind=api.name, code=code, exc_info=problem)
    return _in_shape_of(api, service, request, code, message, client=client)


def _in_shape_of(api: Api, service: Service, request: Request, code: int, message: str, *, client: str) -> Response:
    if api.error_response is None:
        return None
    try:
        return api.error_response(request.body, request.context, code, message)
    except Exception as problem:
        service.log.error("an error cannot be told", client=client, kind=api.name, exc_info=problem)
        return None
