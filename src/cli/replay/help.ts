/** The text of `replay --help` after the options. */
export const HELP = `
A file of cases is JSON, { "cases": [ … ] }, or a case a line:

  { "name": "An order is found", "agent": { "instructions": "…", "model": "…" },
    "tools": [ { "name": "order_status", "description": "…", "inputSchema": { … } } ],
    "exchanges": [
      { "user": "Where is order 1002?",
        "calls": [ { "tool": "order_status", "arguments": { "orderId": "1002" }, "result": "It is being packed." } ],
        "reply": "It is being packed.",
        "checks": { "contains": "packed", "calls": [ "order_status" ], "maxTurns": 2 } } ],
    "checks": { "notCalls": [ "cancel_order" ], "judge": "The assistant promises no date." } }

The user's messages are said as they were, and tools are answered from the record. Exit code 1 where a check fails or
a case does not come to its end.

Examples:
  $ chat-agent replay shop kX3b… --save cases.json     adds a stored thread to a file
  $ chat-agent replay cases.json --instructions new.txt --junit replay.xml
  $ chat-agent replay cases.json --model openai/gpt-5-nano --prices prices.json
`;
