"""``Problem``: what it takes, what it refuses and how it says so, and what it makes of weights."""

import naive
import numpy as np
import pytest
from scipy import sparse

from pegasos import EpsilonInsensitive, Problem, SquaredEpsilonInsensitive
from pegasos.certificate import Answer, certify
from pegasos.losses import LOSSES, TINY

X = np.array([[1.0, 0.5], [-0.5, 2.0], [0.0, 0.0], [-1.0, -1.5]])
Y = [1, -1, 1, -1]
NAN, INF = float("nan"), float("inf")


def with_epsilon(name):
    """The loss that naive.py means by a name."""
    return name if name in naive.CLASSIFICATION else LOSSES[name](0.1)


def objective(problem, w, b):
    """J(w, b) as the certificate has it; w without the constant feature."""
    if problem.bias == "feature":
        w, b = np.append(w, b / problem.constant), 0.0
    return certify(problem, Answer(np.asarray(w, dtype=float), b, None)).certificate.primal


# ------------------------------------------------------------------------------------- bad input


@pytest.mark.filterwarnings("ignore:overflow")  # which NumPy mentions in plain-Python mode
@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        # the rows
        ({"X": np.where(X == 2.0, NAN, X)}, ValueError, r"NaN.*row 1, column 1"),
        ({"X": np.where(X == 2.0, -INF, X)}, ValueError, r"inf.*row 1, column 1"),
        ({"X": sparse.csr_array(np.where(X == 2.0, NAN, X))}, ValueError, r"NaN.*row 1, column 1"),
        ({"X": X * 1e200}, ValueError, r"row 0 .*too large.*scale the features"),
        ({"X": X[:0], "y": []}, ValueError, r"0 rows; at least one"),
        ({"X": X[:, :0]}, ValueError, r"0 features; at least one"),
        ({"X": X[:, 0]}, ValueError, r"two dimensions"),
        ({"X": X[None]}, ValueError, r"two dimensions"),
        ({"X": X + 1j}, ValueError, r"[Cc]omplex"),
        ({"X": X.astype("M8[D]")}, ValueError, r"X holds dates or times \(datetime64\[D\]\)"),
        ({"X": np.ma.masked_equal(X, 2.0)}, ValueError, r"X is masked in row 1, column 1"),
        # the targets
        ({"y": [1, -1, 1]}, ValueError, r"y has shape \(3,\), but X has 4 rows"),
        ({"y": np.array([Y]).T}, ValueError, r"y has shape \(4, 1\), but X has 4 rows"),
        ({"y": [1, -1, 0, -1]}, ValueError, r"labels must be -1 and \+1; row 2 has 0"),
        ({"y": [0, 1, 0, 1]}, ValueError, r"labels must be -1 and \+1; row 0 has 0"),
        ({"y": [1, -1, 1, 2], "loss": "logistic"}, ValueError, r"'logistic'.*row 3 has 2"),
        ({"y": [True, False, True, False]}, ValueError, r"labels must be -1 and \+1; row 1 has 0"),
        ({"y": [1, -1, NAN, -1]}, ValueError, r"y contains nan .*row 2"),
        (
            {"y": [1, INF, 1, -1], "loss": "epsilon_insensitive"},
            ValueError,
            r"y contains inf .*row 1",
        ),
        ({"y": ["a", "b", "a", "b"]}, ValueError, r"y must hold numbers"),
        ({"y": np.array(Y, dtype=object)}, ValueError, r"y must hold numbers, not object"),
        ({"y": [1j, -1, 1, -1]}, ValueError, r"y must hold numbers, not complex128"),
        ({"y": np.ma.masked_array(Y, [0, 0, 1, 0])}, ValueError, r"y is masked in row 2"),
        ({"y": np.array(Y, dtype="M8[D]")}, ValueError, r"y must hold numbers, not datetime64"),
        # the weights
        ({"weights": [1, 2]}, ValueError, r"weights have shape \(2,\), but X has 4 rows"),
        ({"weights": 2.0}, ValueError, r"weights have shape \(\), but X has 4 rows"),
        ({"weights": [1, -2, 1, 1]}, ValueError, r"weights must be zero or positive; row 1 has -2"),
        ({"weights": [1, 1, NAN, 1]}, ValueError, r"weights must be finite; row 2 has nan"),
        ({"weights": [1, 1, 1, INF]}, ValueError, r"weights must be finite; row 3 has inf"),
        ({"weights": [0, 0, 0, 0]}, ValueError, r"all weights are zero"),
        (
            {"weights": np.ma.masked_array(np.ones(4), [0, 1, 0, 0])},
            ValueError,
            r"weights is masked in row 1",
        ),
        ({"weights": ["a", "b", "c", "d"]}, ValueError, r"weights"),
        ({"weights": np.array([1, 1, 1, 1j])}, ValueError, r"weights"),
        # λ and C
        ({"C": None}, ValueError, r"exactly one of lam and C"),
        ({"lam": 1.0}, ValueError, r"exactly one of lam and C"),
        *(
            ({"C": None, "lam": number}, ValueError, r"lam must be positive and finite")
            for number in (0, -1.0, NAN, INF)
        ),
        *(
            ({"C": number}, ValueError, r"C must be positive and finite")
            for number in (0, -1, NAN, INF)
        ),
        ({"C": "large"}, ValueError, r"C must be a positive number, not 'large'"),
        ({"C": [1.0, 2.0]}, ValueError, r"C must be a positive number"),
        ({"C": None, "lam": 1e-320}, ValueError, r"C = 1 / \(lam \* sum of weights\)"),
        ({"C": 1e-320}, ValueError, r"lam = 1 / \(C \* sum of weights\)"),
        ({"C": 1e200, "weights": np.full(4, 1e200)}, ValueError, r"lam = 1 / \(C \* sum"),
        # the loss and the bias
        ({"loss": "zero-one"}, ValueError, r"no loss 'zero-one'; the losses are hinge"),
        ({"loss": None}, TypeError, r"loss must be one of hinge"),
        ({"loss": EpsilonInsensitive(-1.0)}, ValueError, r"epsilon must be zero or positive"),
        ({"loss": SquaredEpsilonInsensitive(NAN)}, ValueError, r"epsilon must be zero or positive"),
        ({"bias": "yes"}, ValueError, r"bias must be one of none, feature, free, not 'yes'"),
        ({"bias": True}, ValueError, r"bias must be one of none, feature, free"),
        *(
            (
                {"bias": "feature", "intercept_scaling": number},
                ValueError,
                r"intercept_scaling must be",
            )
            for number in (0.0, -1.0, NAN, INF, "one")
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(given, error, sentence):
    arguments = {"X": X, "y": Y, "C": 1.0, **given}
    with pytest.raises(error, match=sentence) as caught:
        Problem(arguments.pop("X"), arguments.pop("y"), **arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_targets_that_are_not_numbers_are_refused_with_advice_that_fits(loss):
    with pytest.raises(ValueError, match="y must hold numbers, not <U1") as caught:
        Problem(X, ["a", "b", "a", "b"], C=1.0, loss=loss)
    assert ("LinearSVC takes labels of any type" in str(caught.value)) == (loss == "hinge")


def test_a_constant_feature_whose_square_overflows_is_refused():
    with pytest.raises(ValueError, match="intercept_scaling"):
        Problem(X, Y, C=1.0, bias="feature", intercept_scaling=1e200)


@pytest.mark.parametrize(
    "given",
    [
        {"X": X * np.array([1e-8, 1e8])},
        {"X": X * 1e150},
        {"X": sparse.csr_array(X)},
        {"X": X.astype(np.float32)},
        {"X": X.tolist()},
        {"y": np.array(Y, dtype=np.int8)},
        {"y": np.array(Y, dtype=np.float32)},
        {"weights": [1, 0, 2, 1]},
        {"weights": [True, True, False, True]},
        {"y": [1, 1, 1, 1]},
        {"C": "0.5"},
        {"X": np.ma.masked_array(X)},
    ],
)
def test_what_is_unusual_but_right_is_taken(given):
    arguments = {"X": X, "y": Y, "C": 1.0, **given}
    problem = Problem(arguments.pop("X"), arguments.pop("y"), **arguments)
    assert problem.m >= 3
    assert problem.zero_objective > 0


# -------------------------------------------------------------------------------- λ, C and weights


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5, 3.0], [0.0, 2.0, 0.0, 1.0]])
def test_lam_and_C_are_the_same_problem(weights):
    total = 4.0 if weights is None else sum(weights)
    by_C = Problem(X, Y, C=0.7, weights=weights)
    by_lam = Problem(X, Y, lam=1 / (0.7 * total), weights=weights)
    assert by_C.lam == pytest.approx(1 / (0.7 * total), rel=1e-15)
    np.testing.assert_allclose(by_lam.C, 0.7, rtol=1e-15)
    np.testing.assert_allclose(by_C.cost, by_lam.cost, rtol=1e-15)
    assert by_C.lam * by_C.cost.sum() == pytest.approx(1.0)


def test_rows_of_weight_zero_do_not_exist():
    weights = np.array([1.0, 0.0, 2.0, 0.0])
    problem = Problem(X, [1, NAN, -1, 7], C=1.0, weights=weights, bias="free")
    kept = Problem(X[[0, 2]], [1, -1], C=1.0, weights=weights[[0, 2]], bias="free")
    assert problem.m == kept.m == 2
    assert problem.which.tolist() == [0, 2]
    assert problem.lam == kept.lam
    assert problem.zero_objective == kept.zero_objective
    assert objective(problem, [0.3, -0.2], 0.1) == objective(kept, [0.3, -0.2], 0.1)


@pytest.mark.parametrize("loss", naive.LOSSES)
@pytest.mark.parametrize("bias", ["none", "feature", "free"])
def test_a_weight_of_two_is_the_row_twice(loss, bias):
    repeats = [1, 2, 3, 1]
    weighted = Problem(X, Y, C=0.4, loss=with_epsilon(loss), bias=bias, weights=repeats)
    again = np.repeat(np.arange(4), repeats)
    repeated = Problem(X[again], np.array(Y)[again], C=0.4, loss=with_epsilon(loss), bias=bias)
    assert weighted.lam == pytest.approx(repeated.lam, rel=1e-15)
    assert weighted.zero_objective == pytest.approx(repeated.zero_objective, rel=1e-13)
    w, b = [0.3, -0.8], 0.25 if bias != "none" else 0.0
    found = objective(weighted, w, b)
    assert found == pytest.approx(objective(repeated, w, b), rel=1e-13)
    cost = 0.4 * np.array(repeats)
    if bias == "free":
        b = naive.best_bias(X @ w, np.array(Y, float), cost, loss)
    penalty = b**2 / 2 if bias == "feature" else 0.0
    expected = naive.primal(X, np.array(Y, float), cost, w, b, loss) + penalty
    assert found == pytest.approx(expected, rel=1e-12)


def test_scaled_weights_have_mean_one_over_the_rows_that_count():
    problem = Problem(X, Y, lam=0.3, weights=[1.0, 0.0, 5.0, 2.0])
    assert problem.weights[problem.which].mean() == pytest.approx(1.0)
    assert problem.weights[1] == 0.0
    np.testing.assert_allclose(problem.weights, np.array([1.0, 0.0, 5.0, 2.0]) * 3 / 8)
    np.testing.assert_allclose(Problem(X, Y, lam=0.3).weights, np.ones(4))


@pytest.mark.parametrize("loss", naive.LOSSES)
@pytest.mark.parametrize("bias", ["none", "free"])
def test_zero_objective_is_that_of_no_coefficients_and_the_best_bias(loss, bias):
    rng = np.random.default_rng(0)
    cost = rng.uniform(0.1, 2, 4)
    y = np.array(Y, float) if loss in naive.CLASSIFICATION else rng.standard_normal(4) + 2
    problem = Problem(X, y, C=1.0, weights=cost, loss=with_epsilon(loss), bias=bias)
    b = naive.best_bias(np.zeros(4), y, cost, loss) if bias == "free" else 0.0
    expected = naive.primal(X, y, cost, np.zeros(2), b, loss)
    assert problem.zero_objective == pytest.approx(expected, rel=1e-12)


# --------------------------------------------------------------------------- features and the bias


def test_the_constant_feature_adds_its_square_to_every_norm_and_one_to_the_length_of_w():
    plain, feature = Problem(X, Y, C=1.0), Problem(X, Y, C=1.0, bias="feature", intercept_scaling=3)
    assert (plain.d, feature.d) == (2, 3)
    norms = (X**2).sum(axis=1)
    np.testing.assert_allclose(feature.squared_norms, norms + 9.0)
    np.testing.assert_allclose(plain.squared_norms, np.maximum(norms, TINY))
    assert plain.squared_norms[2] == TINY
    w = np.array([0.3, -0.2])
    scaled = np.hstack([X, np.full((4, 1), 3.0)])
    expected = naive.primal(scaled, np.array(Y, float), np.ones(4), [0.3, -0.2, 0.5], 0.0, "hinge")
    assert objective(feature, w, 1.5) == pytest.approx(expected, rel=1e-13)


def test_intercept_scaling_changes_nothing_without_a_constant_feature():
    for bias in ("none", "free"):
        problem = Problem(X, Y, C=1.0, bias=bias, intercept_scaling=5.0)
        assert problem.constant == 0.0
        assert problem.d == 2


def test_signs_turn_coefficients_of_rows_into_dual_variables():
    assert Problem(X, Y, C=1.0).signs.tolist() == Y
    assert Problem(X, Y, C=1.0, loss="epsilon_insensitive").signs == 1.0


def test_a_problem_describes_itself():
    text = repr(Problem(X, Y, C=2.0, bias="free", weights=[1, 0, 1, 1]))
    assert text == "Problem(3 rows, 2 features, loss='hinge', lam=0.166667, C=2, bias='free')"


# -------------------------------------------------------------------- other targets, same rows


@pytest.mark.parametrize("bias", ["none", "feature", "free"])
def test_with_targets_shares_the_rows_and_keeps_the_rest(bias):
    mine = sparse.csr_array(X)
    problem = Problem(
        mine,
        [0.5, 1.0, 2.0, 0.0],
        C=0.7,
        loss=EpsilonInsensitive(0.4),
        bias=bias,
        intercept_scaling=2.0,
    )
    other = problem.with_targets([1.0, 2.0, 3.0, 4.0], weights=[1.0, 0.0, 2.0, 1.0])
    assert other.intake is problem.intake
    assert np.shares_memory(other.rows.values, mine.data)
    assert (other.C, other.loss, other.bias) == (0.7, EpsilonInsensitive(0.4), bias)
    assert other.constant == problem.constant == (2.0 if bias == "feature" else 0.0)
    assert other.shift == (3.0 if bias == "free" else 0.0)  # a median, which b takes back
    assert (other.y + other.shift)[[0, 2, 3]].tolist() == [1.0, 3.0, 4.0]
    assert other.cost.tolist() == [0.7, 0.0, 1.4, 0.7]
    assert other.lam == pytest.approx(1 / (0.7 * 4))
    assert (problem.y + problem.shift).tolist() == [0.5, 1.0, 2.0, 0.0]


def test_the_users_arrays_are_not_changed():
    mine, y, weights = X.copy(), np.array(Y, float), np.array([1.0, 0.0, 2.0, 1.0])
    problem = Problem(mine, y, C=1.0, weights=weights)
    problem.cost[:] = 0.0
    problem.y[:] = 0.0
    assert mine.tolist() == X.tolist()
    assert y.tolist() == Y
    assert weights.tolist() == [1.0, 0.0, 2.0, 1.0]


# ---------------------------------------------------------------------------------- the fingerprint


def base(**changes):
    arguments = {
        "X": X,
        "y": [0.5, 1.0, 2.0, 0.0],
        "C": 0.7,
        "loss": EpsilonInsensitive(0.4),
        "bias": "feature",
        **changes,
    }
    return Problem(arguments.pop("X"), arguments.pop("y"), **arguments)


@pytest.mark.parametrize(
    "change",
    [
        {"X": X + 1e-9},
        {"X": -X},
        {"X": X[:, ::-1].copy()},
        {"X": X * np.array([1.0, -1.0])},
        {"X": X[[1, 0, 2, 3]]},
        {"X": np.hstack([X, np.zeros((4, 1))])},
        {"y": [0.5, 1.0, 2.0, 1e-12]},
        {"C": 0.7 * (1 + 1e-15)},
        {"weights": [1.0, 1.0, 1.0, 2.0]},
        {"weights": [0.0, 1.0, 1.0, 1.0]},
        {"loss": EpsilonInsensitive(0.5)},
        {"loss": SquaredEpsilonInsensitive(0.4)},
        {"bias": "free"},
        {"bias": "none"},
        {"intercept_scaling": 2.0},
    ],
    ids=lambda change: "-".join(change),
)
def test_the_fingerprint_changes_with_anything_that_matters(change):
    assert base(**change).fingerprint() != base().fingerprint()


def test_the_fingerprint_is_that_of_the_values():
    assert base(X=X.copy(), y=np.array([0.5, 1.0, 2.0, 0.0])).fingerprint() == base().fingerprint()
    assert base(weights=np.ones(4)).fingerprint() == base().fingerprint()
