# A conversation of another visitor is as one that does not exist.

channel shop

Ann visits shop

Ann says "A secret"
----
text "You said: A secret"
done

Ben visits shop

Ben reads Ann's conversation
----
404

Ben lists conversations
