/* test_model_grow.c - filters that grow, under every interleaving: parts of two words that one key
 * fills, so that adders make the next part while others add, test, clear and copy.  The very code
 * of the core; only how large a part is, is the test's. */
/* wraps: bf_chain_part */
#include "growing.h"

static bf_filter *empty; /* filters are made as copies of it, which is cheaper */

static void fresh(void)
{
    CLOSE(f, copy);
    copy = NULL;
    f = bf_copy(empty, NULL);
    f->part[0]->bitmap.g.n = room;
    for (unsigned i = 0; i < old_keys; i++) add_key(f, KEYS - 1 - (int)i);
    begin_calls(chosen);
}

static const plan one_key = { { { ADD, 0, 0 } }, { { ADD, 0, 0 } } },
                  two_keys = { { { ADD, 0, 0 } }, { { ADD, 1, 0 } } },
                  three_adders = { { { ADD, 0, 0 } }, { { ADD, 0, 0 } }, { { ADD, 1, 0 } } },
                  three_keys = { { { ADD, 0, 0 } }, { { ADD, 1, 0 } }, { { ADD, 2, 0 } } },
                  again = { { { ADD, 0, 0 }, { ADD, 1, 0 } }, { { ADD, 1, 0 }, { ADD, 0, 0 } } },
                  add_and_test = { { { ADD, 0, 0 } }, { { TEST, 0, 0 } }, { { ADD, 1, 0 } } },
                  test_old = { { { ADD, 0, 0 } }, { { TEST, KEYS - 1, 0 } }, { { ADD, 1, 0 } } },
                  batches = { { { ADD_BOTH, 0, 0 } }, { { ADD_BOTH, 0, 0 } } },
                  batch_beside_key = { { { ADD_BOTH, 0, 0 } }, { { ADD, 1, 0 } } },
                  batch_and_key = { { { ADD_BOTH, 0, 0 } }, { { ADD, 1, 0 } }, { { TEST, 1, 0 } } };

TEST(adders_make_the_next_part)
{
    for (old_keys = 0; old_keys < 2; old_keys++)
        for (room = 1; room <= 2; room++) {
            char name[100];
#define GROWS(p)                                                                                   \
    do {                                                                                           \
        snprintf(name, sizeof name, #p ", %u before, room for %u", old_keys, room);                \
        KEPT(name, p, fresh, growing_promises);                                                    \
    } while (0)
            GROWS(test_old);
            if (old_keys && room == 2) continue; /* as none before, and room for one */
            GROWS(one_key);
            GROWS(two_keys);
            GROWS(again);
            GROWS(add_and_test);
            if (old_keys) { /* a third thread: some 100,000 schedules */
                GROWS(batch_beside_key);
                continue;
            }
            GROWS(three_keys);
            GROWS(batches);
            GROWS(batch_and_key);
            if (room == 1) GROWS(three_adders);
        }
}

/* ---- a copy beside adders has what was there when it began, and goes on growing by itself ---- */
static bool copy_is_sound(void)
{
    if (!growing_promises() || !copy || !old_ones_are_there(copy) ||
        bf_parts_count(copy) > bf_parts_count(f))
        return false;
    EACH_CALL(u, j)
    if ((*doing)[u][j].op == COPY) EACH_CALL(t, i)
    if ((*doing)[t][i].op == ADD && before(t, i, u, j) && has_key(copy, (*doing)[t][i].key) != 1)
        return false;
    return add_key(copy, 2) == BF_ADDED && has_key(copy, 2) == 1;
}
static const plan add_and_copy = { { { ADD, 0, 0 } }, { { COPY, 0, 0 } } },
                  two_and_copy = { { { ADD, 0, 0 } }, { { COPY, 0, 0 } }, { { ADD, 1, 0 } } };
TEST(copies_beside_adders)
{
    for (old_keys = 0, room = 1; old_keys < 2; old_keys++) {
        KEPT(old_keys ? "copy, adder makes a part" : "copy, adder", add_and_copy, fresh,
            copy_is_sound);
        if (!old_keys) KEPT("copy, two adders", two_and_copy, fresh, copy_is_sound);
    }
}

/* ---- clear: what nobody adds meanwhile is gone, and afterwards the filter is as good as new ----
 */
static bool as_good_as_new(void)
{
    uint64_t sum = 0;
    if (!no_errors() || has_key(f, KEYS - 1) != 0) return false;
    EACH_CALL(t, i) if ((*doing)[t][i].op == TEST && out[t][i].rc != 0) return false;
    for (unsigned i = 0; i < f->count; i++) sum += (uint64_t)bf_live(f->part[i]->live);
    if (sum > 1 || add_key(f, 2) != BF_ADDED) return false;
    EACH_CALL(t, i)
    if ((*doing)[t][i].op == ADD &&
        (add_key(f, (*doing)[t][i].key) < 0 || has_key(f, (*doing)[t][i].key) != 1))
        return false;
    return has_key(f, 2) == 1;
}
static const plan add_and_clear = { { { ADD, 0, 0 } }, { { CLEAR, 0, 0 }, { TEST, KEYS - 1, 0 } } },
                  two_clears = { { { CLEAR, 0, 0 } }, { { CLEAR, 0, 0 }, { TEST, KEYS - 1, 0 } } };
TEST(clear_beside_adders)
{
    old_keys = room = 1;
    KEPT("clear, adder makes a part", add_and_clear, fresh, as_good_as_new);
    KEPT("clear twice", two_clears, fresh, as_good_as_new);
}

/* ---- what must be found: a home that appends in a wrong way ---- */
static bf_chain_ops ops;
static bf_store_ops store;
static int lock_given_back_too_early(bf_filter *to, const bf_params *part, bf_error *err)
{
    bf_int_store_release(&to->lock_holder, 0);
    return bf_chain_memory.append(to, part, err);
}
static void fresh_and_wrong(void)
{
    fresh();
    store = *empty->bitmap.store.ops;
    ops = *store.chain;
    ops.append = lock_given_back_too_early;
    store.chain = &ops;
    f->bitmap.store.ops = &store;
}
TEST(a_wrong_home_is_found)
{
    old_keys = room = 1;
    BROKEN(two_keys, fresh_and_wrong, parts_are_plausible);
}

int main(void)
{
    model_begin();
    empty = bf_open(
        &(bf_spec){ .n = 1, .p = 0.1, .k = 2, .scheme = "classic", .grow = 2, .threads = true },
        NULL);
    find_keys(empty);
    run_tests();
    CLOSE(f, copy, empty);
    return model_ended();
}
