# An anonymous visitor signs in. On another device the same account has the conversations of both.

channel shop

Ann visits shop

Ann says "On my laptop"
----
text "You said: On my laptop"
done

Ann signs in as acc-1

Phone visits shop

Phone says "On my phone"
----
text "You said: On my phone"
done

Phone reads Ann's conversation
----
404

Phone signs in as acc-1

Phone lists conversations
----
conversation, idle
conversation, idle

Phone reads Ann's conversation
----
user: "On my laptop"
assistant: "You said: On my laptop"

Phone signs in as acc-2
----
409
