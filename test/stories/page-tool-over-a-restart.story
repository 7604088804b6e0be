# A call that waits for its page outlives the processes.

channel shop

Ann visits shop

Ann offers look_up

Ann says "Is the kettle in stock?"
model calls look_up {"item":"kettle"}
----
step look_up running "look up"
tool_call look_up {"item":"kettle"}

the service is started again

Ann reads the stream again
----
step look_up running "look up"
tool_call look_up {"item":"kettle"}

Ann's page fails with "The shop is closed"
model says "I cannot see the stock now."
----
step look_up failed "look up"
text "I cannot see the stock now."
done

Ann reads the conversation
----
user: "Is the kettle in stock?"
assistant [look_up failed]: "I cannot see the stock now."
