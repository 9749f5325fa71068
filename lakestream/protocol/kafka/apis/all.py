"""APIS: the list of all APIs that a broker serves."""

from lakestream.protocol.kafka.api import Api
from lakestream.protocol.kafka.apis import (  # noqa: F401 - each is one of _MODULES
    api_00_produce,
    api_01_fetch,
    api_02_list_offsets,
    api_03_metadata,
    api_08_offset_commit,
    api_09_offset_fetch,
    api_10_find_coordinator,
    api_11_join_group,
    api_12_heartbeat,
    api_13_leave_group,
    api_14_sync_group,
    api_15_describe_groups,
    api_16_list_groups,
    api_17_sasl_handshake,
    api_18_api_versions,
    api_19_create_topics,
    api_20_delete_topics,
    api_21_delete_records,
    api_22_init_producer_id,
    api_23_offset_for_leader_epoch,
    api_29_describe_acls,
    api_30_create_acls,
    api_31_delete_acls,
    api_32_describe_configs,
    api_33_alter_configs,
    api_35_describe_log_dirs,
    api_36_sasl_authenticate,
    api_37_create_partitions,
    api_42_delete_groups,
    api_44_incremental_alter_configs,
    api_46_list_partition_reassignments,
    api_47_offset_delete,
    api_50_describe_user_scram_credentials,
    api_51_alter_user_scram_credentials,
    api_60_describe_cluster,
    api_68_consumer_group_heartbeat,
    api_69_consumer_group_describe,
    api_74_list_config_resources,
    api_75_describe_topic_partitions,
)

_MODULES = [module for name, module in globals().items() if name.startswith("api_")]

APIS: tuple[Api, ...] = tuple(sorted((module.API for module in _MODULES), key=lambda api: api.key))
