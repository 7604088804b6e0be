# The visitor stops a reply: what was said so far stays.

channel shop

Ann visits shop

Ann says "Tell me everything"
model says "It began ", then waits
meanwhile Ann stops the reply
----
text "It began "
error cancelled The run was cancelled

Ann reads the conversation
----
user: "Tell me everything"
assistant: "It began "

Ann says "In short?"
model says "It went well."
----
text "It went well."
done
