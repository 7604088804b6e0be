# Two messages at once are answered one after the other, in the order in which they came.

channel shop

Ann visits shop

Ann says "First"
model says "One", then waits
model says "Two"
meanwhile Ann says "Second"
----
text "One"
done
text "Two"
done

Ann reads the conversation
----
user: "First"
assistant: "One"
user: "Second"
assistant: "Two"
