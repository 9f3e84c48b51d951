"""The section `prices`: what DynamoDB costs where the list prices that come with Dynascope do not hold."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator

from analyzer.config_faults import faults_of
from analyzer.config_file import read_yaml
from analyzer.config_kinds import Section
from analyzer.errors import ConfigError
from analyzer.model.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PricesSettings", "RegionPricesSettings", "UnitPricesSettings", "price_sections", "prices_of_section"]

_MOST_MILLION = 1000
_MOST_UNIT_HOUR = 1
_MOST_GIGABYTE = 100
"""Hundreds of times what the dearest region asks: whoever writes more means another unit, or slipped."""


def _at_most(limit: int, of: str, usual: str) -> AfterValidator:
    def check(price: float) -> float:
        if price > limit:
            raise ValueError(f"${price:g} is more than ${limit:,} for {of}; write US dollars for {of}, such as {usual}")
        return price

    return AfterValidator(check)


Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Million = Annotated[Dollars, _at_most(_MOST_MILLION, "a million units", "0.125")]
UnitHour = Annotated[Dollars, _at_most(_MOST_UNIT_HOUR, "a unit for an hour", "0.00013")]
Gigabyte = Annotated[Dollars, _at_most(_MOST_GIGABYTE, "a GB for a month", "0.25")]


class UnitPricesSettings(Section):
    """What the units of one table class cost in US dollars."""

    read_million: Million = Field(description="a million read request units, on demand")
    read_unit_hour: UnitHour = Field(description="a provisioned read capacity unit for an hour")
    write_million: Million = Field(description="a million write request units, on demand")
    write_unit_hour: UnitHour = Field(description="a provisioned write capacity unit for an hour")
    storage_gigabyte: Gigabyte = Field(description="a GB kept for a month")


class RegionPricesSettings(Section):
    """The prices of one region; of a class that is left out the list prices hold."""

    standard: UnitPricesSettings | None = Field(None, description="of tables of the class STANDARD")
    infrequent: UnitPricesSettings | None = Field(None, description="of the class STANDARD_INFREQUENT_ACCESS")


class PricesSettings(Section):
    """Prices of the user's own: in a file, or here."""

    file: str | None = Field(None, description="YAML file that holds the other keys of this section")
    as_of: date | None = Field(None, description="the day of the prices; over a year later findings say so")
    source: str = Field("configured price", min_length=1, max_length=80, description="where they are from")
    regions: dict[str, RegionPricesSettings] = Field({}, description="prices by region, such as eu-west-1")

    @field_validator("as_of")
    @classmethod
    def _has_come(cls, day: date | None) -> date | None:
        if day is not None and day > _today() + timedelta(days=1):  # east of Greenwich it is tomorrow already
            raise ValueError(f"{day} has not come yet; write the day on which these prices were read")
        return day

    @model_validator(mode="after")
    def _is_of_one_place_and_time(self) -> PricesSettings:
        if self.file is not None and (self.regions or self.as_of is not None):
            raise ValueError("prices are in the file or here, not in both; leave one of them out")
        if self.regions and self.as_of is None:
            raise ValueError("prices need their day; write as_of: 2026-11-01")
        return self


def _today() -> date:
    return datetime.now(tz=UTC).date()


def price_sections(content: object, before: str = "") -> dict[str, type[Section]]:
    """Return the sections that prices have by their place, those of their regions too, for what is said of faults."""
    sections: dict[str, type[Section]] = {before.rstrip("."): PricesSettings}
    regions = content.get("regions") if isinstance(content, dict) else None
    for region in regions if isinstance(regions, dict) else ():
        place = f"{before}regions.{region}"
        sections |= {place: RegionPricesSettings}
        sections |= {f"{place}.{name}": UnitPricesSettings for name in RegionPricesSettings.model_fields}
    return sections


def prices_of_section(section: PricesSettings) -> tuple[Prices, ...]:
    """Return the prices that a section or its file holds; raises ConfigError with every fault of the file."""
    return tuple(_prices(section if section.file is None else _read(section.file)))


def _read(file: str) -> PricesSettings:
    content, lines = read_yaml(Path(file))
    content.pop("file", None)  # one that names another is not followed
    try:
        return PricesSettings.model_validate(content)
    except ValidationError as error:
        raise ConfigError(faults_of(error, file, lines, price_sections(content))) from None


def _prices(section: PricesSettings) -> Iterator[Prices]:
    for region, known in section.regions.items():
        for table_class, units in (("STANDARD", known.standard), ("STANDARD_INFREQUENT_ACCESS", known.infrequent)):
            if units is not None:
                as_of = str(section.as_of)
                values = units.model_dump()
                yield Prices(as_of=as_of, region=region, table_class=table_class, source=section.source, **values)
