// Gives the precompiled header of the folders a target to belong to.
