# A message on a pending call: the call's step fails, what was said is kept, and a new run begins.

channel shop

Ann visits shop

Ann offers look_up

Ann says "Is the kettle in stock?"
model says "Let me see. ", then calls look_up {"item":"kettle"}
----
text "Let me see. "
step look_up running "look up"
tool_call look_up {"item":"kettle"}

Ann says "Never mind. Where is my order?"
model says "It is on its way."
----
text "It is on its way."
done

Ann's page answers "3 left"
----
409

Ann reads the conversation
----
user: "Is the kettle in stock?"
assistant [look_up failed]: "Let me see. "
user: "Never mind. Where is my order?"
assistant: "It is on its way."
