"""Writes a sampled log of an application's DynamoDB requests, from inside the application.

    import boto3, dynascope_sampler

    session = boto3.Session()
    dynascope_sampler.instrument(session, sink="/var/log/app/requests.jsonl", request_rate=0.1)

    with dynascope_sampler.pattern("list-active-cases"):  # optional: says which declared pattern a call is
        session.resource("dynamodb").Table("cases").query(...)

It never raises into the application and never blocks it: records that cannot be written are dropped and counted.
"""

from dynascope_sampler.context import pattern
from dynascope_sampler.instrument import Sampler, Stats, instrument

__all__ = ["Sampler", "Stats", "instrument", "pattern"]
