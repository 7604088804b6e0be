/** The parts of `<chat-agent>` that this page uses. */
export interface ChatAgentElement extends HTMLElement {
  tools: PageTool[];
  suggestions: string[];
  readonly open: boolean;
  getVisitorToken(): Promise<string>;
  refresh(): Promise<void>;
  reset(): Promise<void>;
}

export interface PageTool {
  name: string;
  title: string;
  description: string;
  inputSchema: { type: "object"; properties: Record<string, unknown>; required?: string[] };
  annotations?: { readOnlyHint?: boolean; consequentialHint?: boolean };
  execute(args: Record<string, unknown>): unknown;
}
