"""Eight public single-table designs, modelled; five to tune the learning of templates by, three kept back from that."""

from __future__ import annotations

from tests.support.single_tables import Ask, Design, words

__all__ = ["KEPT_BACK", "TUNING"]

_SHOP = Design(
    "shop",
    "A. DeBrie, The DynamoDB Book, e-commerce: customers, their addresses and orders, items of orders",
    {"user": ("name", 400), "email": ("email", 400), "order": ("ksuid", 1500), "item": ("small", 30)},
    (
        Ask(20, "GetItem", {"PK": "CUSTOMER#<user>", "SK": "CUSTOMER#<user>"}),
        Ask(2, "PutItem", {"PK": "CUSTOMER#<user>", "SK": "CUSTOMER#<user>"}),
        Ask(2, "PutItem", {"PK": "CUSTOMEREMAIL#<email>", "SK": "CUSTOMEREMAIL#<email>"}),
        Ask(8, "Query", {"PK": "CUSTOMER#<user>", "SK": "begins_with #ORDER#"}, limit=20),
        Ask(
            6,
            "PutItem",
            {"PK": "CUSTOMER#<user>", "SK": "#ORDER#<order>"},
            written={"GSI1": {"GSI1PK": "ORDER#<order>", "GSI1SK": "ORDER#<order>"}},
        ),
        Ask(
            9,
            "PutItem",
            {"PK": "ORDER#<order>#ITEM#<item>", "SK": "ORDER#<order>#ITEM#<item>"},
            written={"GSI1": {"GSI1PK": "ORDER#<order>", "GSI1SK": "ITEM#<item>"}},
        ),
        Ask(9, "Query", {"GSI1PK": "ORDER#<order>"}, "GSI1"),
        Ask(3, "UpdateItem", {"PK": "CUSTOMER#<user>", "SK": "#ORDER#<order>"}, caller="shipping"),
    ),
)

_SAAS = Design(
    "saas",
    "AWS SaaS Factory, pooled tenants; The DynamoDB Book, users, projects and tasks of an organization",
    {
        "tenant": ("slug", 25),
        "email": ("email", 500),
        "project": ("uuid", 700),
        "task": ("padded", 2000),
        "status": words("OPEN", "DOING", "DONE"),
        "month": ("month", 3),
        "flag": words("beta", "exports", "sso", "audit-trail"),
        "due": ("date", 60),
    },
    (
        Ask(10, "GetItem", {"PK": "TENANT#<tenant>", "SK": "META"}),
        Ask(6, "GetItem", {"PK": "TENANT#<tenant>", "SK": "PLAN"}),
        Ask(10, "GetItem", {"PK": "TENANT#<tenant>", "SK": "USER#<email>"}),
        Ask(3, "Query", {"PK": "TENANT#<tenant>", "SK": "begins_with PROJECT#"}),
        Ask(4, "GetItem", {"PK": "TENANT#<tenant>", "SK": "PROJECT#<project>"}),
        Ask(
            8,
            "PutItem",
            {"PK": "TENANT#<tenant>", "SK": "PROJECT#<project>#TASK#<task>"},
            written={"GSI1": {"GSI1PK": "TENANT#<tenant>#STATUS#<status>", "GSI1SK": "DUE#<due>"}},
        ),
        Ask(4, "Query", {"PK": "TENANT#<tenant>", "SK": "begins_with PROJECT#<project>#TASK#"}, limit=50),
        Ask(4, "Query", {"GSI1PK": "TENANT#<tenant>#STATUS#<status>", "GSI1SK": "< DUE#<due>"}, "GSI1"),
        Ask(5, "UpdateItem", {"PK": "TENANT#<tenant>", "SK": "USAGE#<month>"}, caller="meter"),
        Ask(3, "GetItem", {"PK": "TENANT#<tenant>", "SK": "FLAG#<flag>"}),
    ),
)

_SENSORS = Design(
    "sensors",
    "AWS documentation, data modeling: device status updates; best practices for time series data",
    {
        "device": ("int", 300),
        "state": words("NORMAL", "WARNING1", "WARNING2", "WARNING3", "WARNING4"),
        "time": ("second", 5000),
        "operator": words("Liz", "Sue", "Tom"),
        "sensor": ("hex", 200),
        "date": ("date", 30),
        "epoch": ("epoch_ms", 5000),
        "site": ("slug", 12),
    },
    (
        Ask(20, "PutItem", {"PK": "d#<device>", "SK": "<state>#<time>"}),
        Ask(4, "Query", {"PK": "d#<device>", "SK": "begins_with WARNING"}),
        Ask(3, "Query", {"PK": "d#<device>", "SK": "begins_with <state>#<date>"}),
        Ask(20, "PutItem", {"PK": "sensor:<sensor>:<date>", "SK": "<epoch>"}, caller="ingest"),
        Ask(6, "Query", {"PK": "sensor:<sensor>:<date>", "SK": "between <epoch> and <epoch>"}),
        Ask(4, "GetItem", {"PK": "site:<site>", "SK": "config"}),
    ),
)

_SESSIONS = Design(
    "sessions",
    "AWS, session stores on DynamoDB; OWASP session management: sessions, refresh tokens, one-time codes, rate limits",
    {
        "session": ("uuid", 3000),
        "user": ("int", 800),
        "expiry": ("epoch", 3000),
        "token": ("hex", 1200),
        "email": ("email", 300),
        "ip": ("ip", 300),
        "minute": ("epoch", 200),
        "id": ("nanoid", 900),
    },
    (
        Ask(30, "GetItem", {"PK": "SESSION#<session>", "SK": "SESSION"}),
        Ask(
            5,
            "PutItem",
            {"PK": "SESSION#<session>", "SK": "SESSION"},
            written={"GSI1": {"GSI1PK": "USER#<user>", "GSI1SK": "EXPIRES#<expiry>"}},
        ),
        Ask(3, "Query", {"GSI1PK": "USER#<user>", "GSI1SK": "> EXPIRES#<expiry>"}, "GSI1"),
        Ask(5, "GetItem", {"PK": "REFRESH#<token>", "SK": "REFRESH"}),
        Ask(2, "DeleteItem", {"PK": "REFRESH#<token>", "SK": "REFRESH"}),
        Ask(2, "PutItem", {"PK": "OTP#<email>", "SK": "OTP"}),
        Ask(8, "UpdateItem", {"PK": "RL#<ip>", "SK": "WINDOW#<minute>"}, caller="gateway"),
        Ask(3, "GetItem", {"PK": "sess_<id>", "SK": "SESSION"}, caller="legacy"),
    ),
)

_CASES = Design(
    "casework",
    "AWS documentation, data modeling: complaint management system; cases, their audit, documents and tasks",
    {
        "case": ("short", 900),
        "complaint": ("int", 400),
        "time": ("timestamp", 4000),
        "event": ("ulid", 4000),
        "doc": ("uuid", 900),
        "task": ("padded", 900),
        "investigator": ("name", 60),
        "status": words("ACTIVE", "WAITING", "CLOSED"),
        "due": ("date", 60),
        "date": ("date", 60),
        "region": words("north", "south", "east", "west"),
    },
    (
        Ask(20, "GetItem", {"PK": "CASE#<case>", "SK": "META"}),
        Ask(
            8,
            "PutItem",
            {"PK": "CASE#<case>", "SK": "META"},
            written={
                "GSI1": {"GSI1PK": "INVESTIGATOR#<investigator>#STATUS#<status>", "GSI1SK": "DUE#<due>"},
                "GSI2": {"GSI2PK": "REGION#<region>", "GSI2SK": "DUE#<due>"},
            },
        ),
        Ask(10, "PutItem", {"PK": "CASE#<case>", "SK": "AUDIT#<time>#<event>"}, caller="audit"),
        Ask(5, "Query", {"PK": "CASE#<case>", "SK": "begins_with AUDIT#"}, limit=25),
        Ask(4, "GetItem", {"PK": "CASE#<case>", "SK": "DOC#<doc>"}),
        Ask(3, "UpdateItem", {"PK": "CASE#<case>", "SK": "TASK#<task>"}),
        Ask(
            5, "Query", {"GSI1PK": "INVESTIGATOR#<investigator>#STATUS#<status>", "GSI1SK": "begins_with DUE#"}, "GSI1"
        ),
        Ask(3, "Query", {"GSI2PK": "REGION#<region>", "GSI2SK": "< DUE#<due>"}, "GSI2", caller="notifier"),
        Ask(3, "GetItem", {"PK": "Complaint<complaint>", "SK": "metadata"}),
        Ask(3, "PutItem", {"PK": "Complaint<complaint>", "SK": "comm#<date>#comm<task>"}),
    ),
)

_CHAT = Design(
    "chat",
    "AWS samples, serverless chat over WebSocket; rooms, members, messages, connections, inboxes",
    {
        "room": ("uuid", 300),
        "user": ("name", 500),
        "time": ("timestamp", 5000),
        "message": ("ulid", 5000),
        "connection": ("base64", 900),
        "date": ("date", 30),
        "emoji": words("heart", "smile", "thumbsup", "party"),
    },
    (
        Ask(6, "GetItem", {"PK": "ROOM#<room>", "SK": "INFO"}),
        Ask(20, "PutItem", {"PK": "ROOM#<room>", "SK": "MSG#<time>#<message>"}),
        Ask(12, "Query", {"PK": "ROOM#<room>", "SK": "begins_with MSG#"}, limit=50),
        Ask(3, "Query", {"PK": "ROOM#<room>", "SK": "between MSG#<time> and MSG#<time>"}),
        Ask(4, "PutItem", {"PK": "ROOM#<room>", "SK": "MEMBER#<user>"}),
        Ask(5, "Query", {"PK": "ROOM#<room>", "SK": "begins_with MEMBER#"}),
        Ask(8, "GetItem", {"PK": "USER#<user>", "SK": "PROFILE"}),
        Ask(6, "UpdateItem", {"PK": "USER#<user>", "SK": "PRESENCE"}),
        Ask(4, "PutItem", {"PK": "USER#<user>", "SK": "INBOX#<date>#<message>"}, caller="fanout"),
        Ask(5, "PutItem", {"PK": "CONN#<connection>", "SK": "CONN"}, caller="gateway"),
        Ask(5, "DeleteItem", {"PK": "CONN#<connection>", "SK": "CONN"}, caller="gateway"),
        Ask(3, "PutItem", {"PK": "MSG#<message>", "SK": "REACTION#<emoji>#<user>"}),
        Ask(3, "GetItem", {"PK": "DM#<user>#<user>", "SK": "LAST"}),
    ),
)

_GAMES = Design(
    "games",
    "AWS documentation, data modeling: gaming profile; write-sharded leaderboards",
    {
        "player": ("int", 900),
        "item": ("uuid", 1500),
        "badge": words("first-win", "ten-wins", "explorer", "collector", "veteran"),
        "game": words("chess", "go", "shogi", "checkers"),
        "season": ("small", 3),
        "shard": ("digit", 10),
        "score": ("padded", 4000),
        "match": ("ksuid", 1500),
        "date": ("date", 14),
        "time": ("second", 4000),
    },
    (
        Ask(15, "GetItem", {"PK": "player<player>", "SK": "#METADATA#player<player>"}),
        Ask(4, "Query", {"PK": "player<player>", "SK": "begins_with FRIEND#"}),
        Ask(4, "PutItem", {"PK": "player<player>", "SK": "FRIEND#player<player>"}),
        Ask(6, "PutItem", {"PK": "player<player>", "SK": "ITEM#<item>"}),
        Ask(3, "PutItem", {"PK": "player<player>", "SK": "BADGE#<badge>"}),
        Ask(
            12,
            "PutItem",
            {"PK": "MATCH#<match>", "SK": "player<player>"},
            written={
                "GSI1": {
                    "GSI1PK": "GAME#<game>#SEASON#<season>#SHARD#<shard>",
                    "GSI1SK": "SCORE#<score>#player<player>",
                }
            },
        ),
        Ask(
            6,
            "Query",
            {"GSI1PK": "GAME#<game>#SEASON#<season>#SHARD#<shard>", "GSI1SK": "begins_with SCORE#"},
            "GSI1",
            limit=10,
        ),
        Ask(5, "Query", {"PK": "MATCH#<match>"}),
        Ask(4, "Query", {"PK": "DAILY#<date>", "SK": ">= SCORE#<score>"}),
        Ask(5, "PutItem", {"PK": "DAILY#<date>", "SK": "SCORE#<score>#player<player>"}),
    ),
)

_LEDGER = Design(
    "ledger",
    "AWS documentation, data modeling: recurring payments; double-entry ledgers with holds, transfers, statements",
    {
        "account": ("iban", 500),
        "time": ("timestamp", 5000),
        "entry": ("uuid", 5000),
        "transfer": ("ulid", 1500),
        "leg": ("small", 4),
        "month": ("month", 4),
        "customer": ("int", 400),
        "version": ("small", 5),
        "card": ("hex", 400),
        "date": ("date", 30),
        "shard": ("digit", 10),
        "currency": words("EUR", "USD", "CHF"),
    },
    (
        Ask(15, "GetItem", {"PK": "ACC#<account>", "SK": "BALANCE#<currency>"}),
        Ask(15, "PutItem", {"PK": "ACC#<account>", "SK": "TXN#<time>#<entry>"}),
        Ask(8, "Query", {"PK": "ACC#<account>", "SK": "begins_with TXN#"}, limit=30),
        Ask(3, "Query", {"PK": "ACC#<account>", "SK": "between TXN#<date> and TXN#<date>"}),
        Ask(4, "PutItem", {"PK": "ACC#<account>", "SK": "HOLD#<entry>"}),
        Ask(2, "GetItem", {"PK": "ACC#<account>", "SK": "STMT#<month>"}),
        Ask(6, "PutItem", {"PK": "TRANSFER#<transfer>", "SK": "LEG#<leg>"}),
        Ask(4, "Query", {"PK": "TRANSFER#<transfer>"}),
        Ask(5, "Query", {"PK": "CUST#<customer>", "SK": "begins_with ACC#"}),
        Ask(3, "GetItem", {"PK": "CUST#<customer>", "SK": "KYC#v<version>"}, caller="compliance"),
        Ask(4, "PutItem", {"PK": "IDEMPOTENCY#<entry>", "SK": "IDEMPOTENCY"}),
        Ask(4, "GetItem", {"PK": "CARD#<card>", "SK": "CARD"}),
        Ask(
            4,
            "PutItem",
            {"PK": "PAYOUT#<transfer>", "SK": "PAYOUT"},
            written={"GSI1": {"GSI1PK": "DAY#<date>#SHARD#<shard>", "GSI1SK": "PAYOUT#<transfer>"}},
        ),
        Ask(2, "Query", {"GSI1PK": "DAY#<date>#SHARD#<shard>"}, "GSI1", caller="settlement"),
    ),
)

TUNING = (_SHOP, _SAAS, _SENSORS, _SESSIONS, _CASES)
KEPT_BACK = (_CHAT, _GAMES, _LEDGER)
"""Chosen before anything was measured; the learning is never changed for their sake."""
