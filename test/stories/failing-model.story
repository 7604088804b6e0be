# A model that fails ends the run in one error line; the next message finds everything as it was.

channel shop

Ann visits shop

Ann says "Hello"
model fails 400
----
error The model answered with an error (400)

Ann reads the conversation
----
user: "Hello"
assistant (failed): "The model answered with an error (400)"

Ann says "Hello again"
model says "Good morning."
----
text "Good morning."
done
