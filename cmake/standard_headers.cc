// Gives the precompiled header of the rooms a target to belong to.
