// Only there to have the headers that nearly every test includes compiled once.
