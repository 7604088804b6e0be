# A blocked account is refused from the next request on, costs no call of the model, and keeps its conversation.

channel shop

Ann visits shop

Ann says "Hello"
model says "Good morning."
----
text "Good morning."
done

Ann signs in as acc-1

operator blocks acc-1

Ann says "Are you there?"
----
403

operator unblocks acc-1

Ann says "And now?"
model says "Here I am."
----
text "Here I am."
done

Ann reads the conversation
----
user: "Hello"
assistant: "Good morning."
user: "And now?"
assistant: "Here I am."
