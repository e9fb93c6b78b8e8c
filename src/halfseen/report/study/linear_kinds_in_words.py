"""What linear policies do, in plain words."""

POLICIES = {
    "lin-ucb": "Plays the largest upper confidence bound, from observed rewards alone.",
    "impute-zero-lin-ucb": "A common mistake: LinUCB that imputes a reward of 0 where feedback is"
    " missing.",
    "lin-thompson": "Samples θ from its posterior and plays the best action for it.",
    "otf-lin-ucb": "Plays the largest upper confidence bound, counting every play at once and every"
    " reward when it arrives.",
    "lin-epsilon-greedy": "Plays the best estimated mean, and sometimes a random action.",
    "lin-random": "Plays a random action: the cost of not learning.",
    "glm-ucb": "Explores until every direction was seen once, then plays the largest upper"
    " confidence bound, by maximum likelihood on observed rewards alone.",
    "ridge-glm-ucb": "Plays the largest upper confidence bound, by penalised likelihood on"
    " observed rewards alone.",
    "glm-thompson": "Samples θ from a normal approximation of its posterior and plays the best"
    " action for it.",
    "impute-zero-glm-ucb": "A common mistake: GLMUCB that imputes a reward of 0 where feedback is"
    " missing.",
    "design": "Always plays the most uncertain action: the cost of pure exploration.",
    "information-greedy": "An adversary that knows p: most information per observation.",
    "most-censored": "An adversary that knows p: explores only the most censored actions.",
    "optimal-order": "An adversary that knows p: the plan of largest potential, most censored"
    " actions first.",
}
