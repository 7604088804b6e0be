/** 30 MB and a tenth of a second that only channels with MCP servers pay. */
export async function loadSdk() {
  const [
    { Client },
    { StdioClientTransport },
    { StreamableHTTPClientTransport },
    { ClientCredentialsProvider },
    types,
  ] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/stdio.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    import("@modelcontextprotocol/sdk/client/auth-extensions.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const { ResultSchema, SUPPORTED_PROTOCOL_VERSIONS, ToolListChangedNotificationSchema } = types;
  return {
    Client,
    StdioClientTransport,
    StreamableHTTPClientTransport,
    ClientCredentialsProvider,
    ResultSchema,
    SUPPORTED_PROTOCOL_VERSIONS,
    ToolListChangedNotificationSchema,
  };
}

export type McpSdk = Awaited<ReturnType<typeof loadSdk>>;
