"""Where the faces of the gateway are mounted."""

CATALOG_PATH = "/iceberg"
REGISTRY_PATH = "/registry"
CONSOLE_PATH = "/console"
TOKENS_PATH = f"{CATALOG_PATH}/v1/oauth/tokens"
LOGIN_PATH = f"{CONSOLE_PATH}/login"
