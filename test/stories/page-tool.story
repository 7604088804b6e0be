# A tool of the page: the stream ends with its call, and the page's answer opens the next one.

channel shop

Ann visits shop

Ann offers look_up

Ann says "Is the kettle in stock?"
model says "One moment. ", then calls look_up {"item":"kettle"}
----
text "One moment. "
step look_up running "look up"
tool_call look_up {"item":"kettle"}

Ann reads the stream again
----
text "One moment. "
step look_up running "look up"
tool_call look_up {"item":"kettle"}

Ann's page answers "3 left"
model says "Three are left."
----
step look_up done "look up"
text "Three are left."
done

Ann's page answers "3 left"
----
step look_up done "look up"
text "Three are left."
done

Ann reads the conversation
----
user: "Is the kettle in stock?"
assistant [look_up done]: "One moment. Three are left."
