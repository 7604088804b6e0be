# A deleted conversation is gone at once, for its visitor and for the page that was answering.

channel shop

Ann visits shop

Ann offers look_up

Ann says "Is the kettle in stock?"
model calls look_up {"item":"kettle"}
----
step look_up running "look up"
tool_call look_up {"item":"kettle"}

Ann deletes the conversation

Ann reads the conversation
----
404

Ann's page answers "3 left"
----
404

Ann lists conversations
