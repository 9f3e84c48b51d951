from __future__ import annotations

import pytest
from botocore.exceptions import (
    ClientError,
    CredentialRetrievalError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)

from analyzer.errors import AbsentError, CollectError, DeniedError, ThrottledError, UnreachableError, UnsupportedError
from collectors.aws.errors import permission_of, translate


def refused(code: str, status: int = 400, message: str = "no") -> ClientError:
    answer = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "ListObjectsV2")


@pytest.mark.parametrize(
    ("error", "kind", "hint"),
    [
        (refused("AccessDenied", 403), DeniedError, "grant s3:ListBucket"),
        (refused("403", 403), DeniedError, "grant s3:ListBucket"),
        (refused("RequestTimeTooSkewed", 403), DeniedError, "set the clock"),
        (refused("SignatureDoesNotMatch", 403), DeniedError, "check the access key"),
        (refused("SlowDown", 503), ThrottledError, "look less often"),
        (refused("429", 429), ThrottledError, "look less often"),
        (refused("NoSuchBucket", 404), AbsentError, "check name and region"),
        (refused("InternalError", 500), UnreachableError, "a fault of its own"),
        (refused("IllegalLocation"), UnsupportedError, "check that the region offers it"),
        (NoCredentialsError(), DeniedError, "AWS_PROFILE"),
        (CredentialRetrievalError(provider="sso", error_msg="gone"), DeniedError, "log in again"),
        (EndpointConnectionError(endpoint_url="http://x"), UnreachableError, "check region, endpoint"),
        (ReadTimeoutError(endpoint_url="http://x"), UnreachableError, "read_timeout"),
        (TimeoutError(), UnreachableError, "read_timeout"),
        (ConnectionResetError(), UnreachableError, "check region, endpoint"),
    ],
)
def test_an_error_of_the_sdk_becomes_ours_with_its_mend(error: Exception, kind: type[CollectError], hint: str) -> None:
    told = translate(error, "s3", "ListObjectsV2", "in eu-west-1")
    assert type(told) is kind
    assert hint in told.hint
    assert str(told).startswith("ListObjectsV2 in eu-west-1: ")


def test_the_code_of_a_refusal_is_kept() -> None:
    assert translate(refused("PreconditionFailed", 412), "s3", "PutObject").code == "PreconditionFailed"


@pytest.mark.parametrize(
    ("service", "operation", "permission"),
    [
        ("cloudwatch", "GetMetricData", "cloudwatch:GetMetricData"),
        ("s3", "HeadObject", "s3:GetObject"),
        ("application-autoscaling", "DescribeScalingPolicies", "application-autoscaling:DescribeScalingPolicies"),
    ],
)
def test_a_permission_is_named_as_iam_does(service: str, operation: str, permission: str) -> None:
    assert permission_of(service, operation) == permission
