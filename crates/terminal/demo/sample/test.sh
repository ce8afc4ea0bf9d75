# Tries cart.sh; the exit code is the number of faults.
. ./cart.sh
faults=0

expect() { # QUANTITY PRICE TOTAL
  local found
  found=$(total "$1" "$2")
  if [ "$found" = "$3" ]; then
    echo "ok      $1 pieces at $2 cost $3"
  else
    echo "not ok  $1 pieces at $2 cost $found, not $3"
    faults=$(( faults + 1 ))
  fi
}

expect 1 100 100
expect 10 100 900
expect 20 100 1800
exit "$faults"
