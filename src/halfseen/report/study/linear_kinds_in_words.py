"""What linear policies do, in plain words."""

POLICIES = {
    "lin-ucb": "Plays the action that could be best, judged on seen rewards alone.",
    "impute-zero-lin-ucb": "A common mistake: LinUCB that learns a reward of 0 where feedback is"
    " missing.",
    "lin-thompson": "Draws θ from what is believed of it, plays the best action for it.",
    "lin-epsilon-greedy": "Plays the best estimated mean, and sometimes any action.",
    "lin-random": "Plays any action: what no learning costs.",
    "glm-ucb": "Explores until every direction was seen once, then plays the action that could be"
    " best, by maximum likelihood on seen rewards alone.",
    "ridge-glm-ucb": "Plays the action that could be best, by penalised likelihood on seen rewards"
    " alone.",
    "glm-thompson": "Draws θ from a normal approximation of its posterior, plays the best action"
    " for it.",
    "impute-zero-glm-ucb": "A common mistake: GLMUCB that learns a reward of 0 where feedback is"
    " missing.",
    "design": "Always plays the most uncertain action: what pure exploration costs.",
    "information-greedy": "An adversary that knows p: plays the largest gain per observation.",
    "most-censored": "An adversary that knows p: explores among the least seen actions only.",
    "optimal-order": "An adversary that knows p: the plan with the largest potential, least seen"
    " actions first.",
}
