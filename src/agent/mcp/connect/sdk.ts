/** 30 MB and a tenth of a second that only channels with MCP servers pay. */
export async function loadSdk() {
  const [sdk, { StdioClientTransport }] = await Promise.all([
    import("@modelcontextprotocol/client"),
    import("@modelcontextprotocol/client/stdio"),
  ]);
  const { Client, StreamableHTTPClientTransport, SSEClientTransport, ClientCredentialsProvider } = sdk;
  const { auth, computeScopeUnion, extractWWWAuthenticateParams } = sdk;
  return {
    Client,
    StdioClientTransport,
    StreamableHTTPClientTransport,
    SSEClientTransport,
    ClientCredentialsProvider,
    auth,
    computeScopeUnion,
    extractWWWAuthenticateParams,
    /** Newest first. The SDK's list names those with `initialize` alone. */
    revisions: [STATELESS, ...sdk.SUPPORTED_PROTOCOL_VERSIONS.filter((one) => one !== STATELESS)],
  };
}

/** The first revision without sessions. */
const STATELESS = "2026-07-28";

export type McpSdk = Awaited<ReturnType<typeof loadSdk>>;
