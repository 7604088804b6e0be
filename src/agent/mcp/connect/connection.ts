import { isRecord } from "../../../is-record.ts";
import { z } from "zod";
import { createHider } from "../../../log.ts";
import { abortable } from "../../abortable.ts";
import { LONGEST_CALL_MS, secretsOf } from "./address.ts";
import { AskingNow } from "./asking.ts";
import { connected, NOBODY } from "./connect.ts";
import type { ConnectionOptions } from "./connection-options.ts";
import { isOfOddResult } from "../fault.ts";
import { headerFault } from "./header-arguments.ts";
import { hideInErrors } from "./hidden-error.ts";
import type { Caller } from "../identity.ts";
import { listTools } from "../list-tools.ts";
import type { ListedTools } from "../list-tools.ts";
import { notPutOff } from "../put-off.ts";
import { loadSdk } from "./sdk.ts";

/** An open connection to an MCP server, as far as tools go. Its calls reject with what the SDK throws. */
export interface McpConnection {
  /** Which revision of MCP is spoken, and over what, for the owner. */
  readonly spoken: string;
  listTools(timeoutMs: number): Promise<ListedTools>;
  /** The result as the server sent it, and what it asked the visitor before: the parameters of each `elicitation/create`. */
  callTool(
    call: { tool: string; arguments: Record<string, unknown> },
    options: { timeoutMs: number; signal: AbortSignal; caller: Caller | null; traceparent: string | null },
  ): Promise<{ result: Record<string, unknown>; wanted: readonly unknown[] }>;
  /** Ends the session, or the process: within about four seconds. */
  close(): Promise<void>;
}

const GOODBYE_MS = 1_000;
/** A result's shape is not checked by the SDK: lists are read tool by tool, and a text is made of anything. */
const ANY_RESULT = z.looseObject({});

/** Connects over HTTP, or starts the server's process. Loads the SDK, on first use. */
export async function openConnection(options: ConnectionOptions): Promise<McpConnection> {
  const { name } = options;
  const sdk = await loadSdk();
  const asking = new AskingNow();
  const hideText = createHider(secretsOf(options));
  const hide = hideInErrors(hideText);
  const hidden = (error: unknown) => Promise.reject(hide(error));
  const { client, over, endSession, release } = await connected(
    sdk,
    { ...options, onStderr: (text) => options.onStderr(hideText(text)) },
    asking,
  ).catch(hidden);
  let schemas = new Map<string, object>();

  return {
    spoken: `MCP ${client.getNegotiatedProtocolVersion() ?? "of an unknown revision"} over ${over}`,

    listTools: (listMs) => {
      const tools = client.getServerCapabilities()?.tools;
      if (!tools) return Promise.resolve({ tools: [], odd: [], ttlMs: null });
      const hasHeaders = client.getProtocolEra() === "modern" && over !== "stdio";
      return listTools(
        name,
        (params) =>
          asking.ask(NOBODY, (signal) =>
            asItCame(asking, () =>
              client.request({ method: "tools/list", params }, ANY_RESULT, { timeout: listMs, signal }),
            ),
          ),
        hasHeaders ? headerFault : undefined,
      ).then((listed) => {
        schemas = new Map(listed.tools.map(({ name: tool, inputSchema }) => [tool, inputSchema]));
        return listed;
      }, hidden);
    },

    callTool: ({ tool, arguments: args }, { timeoutMs: callMs, signal, caller, traceparent }) => {
      // The one place where a server that is a process can read it.
      const traced = traceparent === null ? {} : { _meta: { traceparent } };
      const params = { name: tool, arguments: args, ...traced };
      const asked = asking.ask(
        { caller, traceparent },
        async (lost) => {
          const wanted = asking.present?.wanted ?? [];
          const call = (again: { requestState?: string }) =>
            asItCame(asking, () =>
              client.callTool(
                { ...params, ...again },
                {
                  // Some arguments also go into headers (MCP 2026-07-28, x-mcp-header). Without an output schema nothing is checked.
                  toolDefinition: { name: tool, inputSchema: { ...schemas.get(tool), type: "object" } },
                  timeout: callMs,
                  signal: lost,
                  allowInputRequired: true,
                  // A tool that says how far it is may take longer.
                  onprogress() {},
                  resetTimeoutOnProgress: true,
                  maxTotalTimeout: Math.max(callMs, LONGEST_CALL_MS),
                },
              ),
            );
          const isStateless = client.getProtocolEra() === "modern";
          return { result: await (isStateless ? notPutOff(call, lost) : call({})), wanted };
        },
        signal,
      );
      return asked.then(
        ({ result, wanted }) => ({
          result: result["isError"] === true ? textHidden(result, hideText) : result,
          wanted,
        }),
        hidden,
      );
    },

    async close() {
      await abortable(endSession(), AbortSignal.timeout(GOODBYE_MS)).catch(() => {});
      await client.close().catch(() => {});
      await release();
    },
  };
}

/** The result that the server sent, also where the SDK has another idea of its shape. */
async function asItCame(
  asking: AskingNow,
  send: () => Promise<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const { present } = asking;
  // Of the call's try before this one.
  if (present) delete present.result;
  const came = () => (isRecord(present?.result) ? present.result : null);
  try {
    const read = await send();
    return came() ?? read;
  } catch (error) {
    const result = isOfOddResult(error) ? came() : null;
    if (result === null) throw error;
    return result;
  }
}

/** A tool that fails tells why in its result: with the header that it did not like, too. */
function textHidden(
  result: Record<string, unknown>,
  hide: (text: string) => string,
): Record<string, unknown> {
  return JSON.parse(hide(JSON.stringify(result))) as Record<string, unknown>;
}
