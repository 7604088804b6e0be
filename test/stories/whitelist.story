# Where only listed accounts may talk, a visitor first signs in, and then is listed.

channel club {"accessMode":"whitelist"}

Ann visits club

Ann says "May I come in?"
----
403

Ann signs in as acc-1

operator lists acc-1

Ann says "May I come in?"
model says "You may."
----
text "You may."
done
