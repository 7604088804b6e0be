/** The service as an OAuth client of MCP servers' authorization servers, below PUBLIC_URL. */

/** Where visitors come back to. */
export const MCP_CALLBACK = "/v1/mcp/oauth/callback";

/** What an authorization server reads about the client whose id is this address (OAuth Client ID Metadata Document). */
export const MCP_CLIENT = "/v1/mcp/oauth/client";

/** As a client tells it when it registers. `hasSecret`: it was registered by hand, and proves who it is. */
export function mcpClientMetadata(redirectUrl: string, { hasSecret }: { hasSecret: boolean }) {
  return {
    client_name: "chat-agent-service",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: hasSecret ? "client_secret_basic" : "none",
  };
}

/** The address of that document, which is the client's id; null: it has to be https. */
export function mcpClientId(redirectUrl: string): string | null {
  return redirectUrl.startsWith("https://") ? redirectUrl.replace(MCP_CALLBACK, MCP_CLIENT) : null;
}
