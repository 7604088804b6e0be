# A message that is sent again with its id is stored once, and costs one call of the model.

channel shop

Ann visits shop

Ann says "Hello"
model says "Good morning."
----
text "Good morning."
done

Ann repeats the message
----
text "Good morning."
done

Ann reads the conversation
----
user: "Hello"
assistant: "Good morning."
