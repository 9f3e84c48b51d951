"""Every design rule: a function from a table's scope to what it objects to, named for what it finds."""

from __future__ import annotations

from analyzer.contract.rules import heat, indexes, keys, overlaps, patterns, tables

RULES = (
    patterns.scan_pattern,
    patterns.no_key_target,
    patterns.filter_in_pattern,
    patterns.batch_too_large,
    patterns.malformed_schedule,
    patterns.day_is_over,
    patterns.allowed_for_years,
    patterns.strong_on_gsi,
    patterns.item_operation_on_index,
    patterns.title_without_numbers,
    keys.no_sort_key,
    keys.no_partition_key,
    keys.condition_in_item_key,
    keys.foreign_key_attribute,
    keys.braces_in_template,
    keys.low_cardinality_key,
    keys.unsortable_dates,
    overlaps.ambiguous_templates,
    overlaps.same_request,
    indexes.too_many_indexes,
    indexes.unserved_index,
    indexes.index_like_table,
    indexes.index_an_attribute,
    indexes.projects_all,
    indexes.lsi_of_another_key,
    indexes.too_many_key_attributes,
    indexes.no_staleness,
    tables.no_owner,
    tables.no_rebuild,
    tables.unknown_entity,
    tables.unknown_caller,
    heat.peak_over_ceiling,
    heat.constant_index_key,
)
