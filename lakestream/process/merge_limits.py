"""The limits of merges as the settings give them: the pipeline keeps to them, and the gateway plans by them."""

from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.settings.model import MaintenanceSettings


def merge_limits(given: MaintenanceSettings) -> MergeLimits:
    return MergeLimits(
        target_bytes=given.target_file_bytes,
        files_min=given.files_min,
        round_bytes_max=given.round_bytes_max,
        time_share=given.time_share,
    )
