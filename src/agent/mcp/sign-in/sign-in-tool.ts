import { PickedSchema } from "../../tools/picked-schema.ts";
import type { ServerTool } from "../../tools/tools.ts";

/** The name of the tool that stands for those of a server which tells them only to who has signed in. */
export const SIGN_IN = "sign_in";

/** What the model is told with a link that the visitor sees. */
export const SIGN_IN_FIRST =
  "The visitor must sign in first, by a link that they have just been shown. Ask them to, and call the tool again when they say that they have.";

export function signInTool(server: string): ServerTool {
  const inputSchema = { type: "object", properties: {} };
  return {
    server,
    name: SIGN_IN,
    title: "Sign in",
    description: `Shows the visitor a link to sign in with, after which the tools of ${JSON.stringify(server)} can be used. Call it when the visitor asks for something that needs them.`,
    inputSchema,
    picked: new PickedSchema(inputSchema),
    repeatable: true,
    readOnly: false,
    destructive: false,
  };
}
